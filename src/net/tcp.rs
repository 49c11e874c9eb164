//! TCP over the loopback address, on mio.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use mio::Interest;
use mio::net::{TcpListener, TcpStream};
use socket2::{Domain, Protocol, Socket, Type};

use super::{Listener, Network, Registrar, Source, Stream, Token};

/// The machine's TCP. Connects and listens on the loopback address only, on ephemeral ports.
#[derive(Debug, Default)]
pub struct TcpNetwork {
    /// Bound and never listening, so that a connect to it is refused and nobody else gets its port.
    closed: OnceLock<(Socket, SocketAddr)>,
}

impl TcpNetwork {
    /// The machine's TCP.
    pub fn new() -> TcpNetwork {
        TcpNetwork::default()
    }

    /// Makes one connection over the loopback address, to find out before a run whether that works at all.
    ///
    /// # Errors
    /// The loopback interface is missing or down, no port or descriptor is left, or what else the system reports.
    pub fn try_loopback() -> io::Result<()> {
        let listener = bound()?;
        listener.listen(1)?;
        let address = address_of(&listener)?;
        let client = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        client.connect_timeout(&address.into(), LOOPBACK_PATIENCE)
    }
}

/// A connect over a loopback address that works takes microseconds.
const LOOPBACK_PATIENCE: Duration = Duration::from_secs(2);

/// A socket bound to a free port: of the IPv4 loopback, or of IPv6's where that is missing.
fn bound() -> io::Result<Socket> {
    let bind = |domain, ip: IpAddr| {
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.bind(&SocketAddr::new(ip, 0).into())?;
        Ok(socket)
    };
    bind(Domain::IPV4, Ipv4Addr::LOCALHOST.into()).or_else(|error: io::Error| {
        // The first error says more when neither is there.
        bind(Domain::IPV6, Ipv6Addr::LOCALHOST.into()).map_err(|_| error)
    })
}

fn address_of(socket: &Socket) -> io::Result<SocketAddr> {
    socket.local_addr()?.as_socket().ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
}

impl Network for TcpNetwork {
    fn listen(&self, backlog: u32) -> io::Result<Box<dyn Listener>> {
        let socket = bound()?;
        socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        socket.set_nonblocking(true)?;
        Ok(Box::new(TcpListener::from_std(socket.into())))
    }

    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn Stream>> {
        boxed(TcpStream::connect(to)?)
    }

    fn closed_address(&self) -> io::Result<SocketAddr> {
        if let Some((_, address)) = self.closed.get() {
            return Ok(*address);
        }
        let socket = bound()?;
        let address = address_of(&socket)?;
        Ok(self.closed.get_or_init(|| (socket, address)).1)
    }
}

/// Netty sets TCP_NODELAY by default (`DefaultSocketChannelConfig`).
fn boxed(stream: TcpStream) -> io::Result<Box<dyn Stream>> {
    // Some systems refuse options of a socket whose connect has failed already; the connect says so itself.
    let _ = stream.set_nodelay(true);
    Ok(Box::new(stream))
}

fn register(source: &mut impl mio::event::Source, registrar: &Registrar, token: Token) -> io::Result<()> {
    match registrar {
        Registrar::Mio(registry) => {
            registry.register(source, mio::Token(token.0), Interest::READABLE | Interest::WRITABLE)
        }
        Registrar::Memory(_) | Registrar::Nothing => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn deregister(source: &mut impl mio::event::Source, registrar: &Registrar) -> io::Result<()> {
    match registrar {
        Registrar::Mio(registry) => registry.deregister(source),
        Registrar::Memory(_) | Registrar::Nothing => Err(io::ErrorKind::Unsupported.into()),
    }
}

impl Source for TcpListener {
    fn register(&mut self, registrar: &Registrar, token: Token) -> io::Result<()> {
        register(self, registrar, token)
    }

    fn deregister(&mut self, registrar: &Registrar) -> io::Result<()> {
        deregister(self, registrar)
    }

    fn local_address(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }
}

impl Listener for TcpListener {
    fn accept(&mut self) -> io::Result<(Box<dyn Stream>, SocketAddr)> {
        let (stream, remote) = TcpListener::accept(self)?;
        Ok((boxed(stream)?, remote))
    }
}

impl Source for TcpStream {
    fn register(&mut self, registrar: &Registrar, token: Token) -> io::Result<()> {
        register(self, registrar, token)
    }

    fn deregister(&mut self, registrar: &Registrar) -> io::Result<()> {
        deregister(self, registrar)
    }

    fn local_address(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }
}

impl Stream for TcpStream {
    fn finish_connect(&mut self) -> io::Result<bool> {
        if let Some(error) = self.take_error()? {
            return Err(error);
        }
        match self.peer_addr() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Read::read(self, buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(self, bytes)
    }

    fn shutdown(&mut self, side: Shutdown) -> io::Result<()> {
        TcpStream::shutdown(self, side)
    }

    fn remote_address(&self) -> io::Result<SocketAddr> {
        self.peer_addr()
    }
}
