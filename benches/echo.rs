//! Echo of lines of 64 bytes over loopback: our channels with a pipeline of two handlers (lines, echo) against a bare
//! mio server that sends back what it reads. The same clients for both; the server on one thread.
//!
//! Goal: at 64 connections at least 70 % of the bare server's messages a second; at one connection a p50 of the round
//! trip of at most 1.3 times. Both with the clients on the other CPU, as told first, and on the server's own CPU, where
//! no wake-up of an idle CPU hides what the server costs.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

#[allow(dead_code, reason = "each bench uses its part")]
mod common;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Sender;
use loopprobe::channel::{
    Channel, ChannelTag, Context, Group, Handler, Inbound, LineDecoder, Message, Outbound, ServerBootstrap,
    Settings,
};
use loopprobe::clock::Clock;
use loopprobe::net::TcpNetwork;
use loopprobe::stats::quantile;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};

use common::{Cpus, Plan, Ratio, spread};

/// One message: a line with its end.
const LINE: usize = 64;
const CONNECTIONS: usize = 64;
const RATE_GOAL: f64 = 0.7;
const TRIP_GOAL: f64 = 1.3;

fn message() -> [u8; LINE] {
    let mut line = [b'x'; LINE];
    line[LINE - 1] = b'\n';
    line
}

/// A server that runs.
struct Started {
    address: SocketAddr,
    stop: Box<dyn FnOnce() + Send>,
}

/// Serves on the calling thread until it is stopped.
type Serve = fn(&Sender<Started>);

const SERVERS: [(&str, Serve); 2] = [("loopprobe, two handlers", serve_pipeline), ("bare mio", serve_bare)];

/// What one server did, round by round.
#[derive(Default)]
struct Results {
    /// Messages a second at 64 connections.
    rate: Vec<f64>,
    /// The server's CPU time for each of them, in µs.
    cost: Vec<f64>,
    /// p50 of the round trip at one connection, in µs.
    trip: Vec<f64>,
}

fn main() {
    let plan = Plan::from_args(21);
    let Some(cpus) = common::cpus() else { return };
    let (messages, trips) = (plan.size(20_000, 640), plan.size(2000, 50));
    println!(
        "echo: {} rounds of {messages} messages and {trips} round trips, {LINE} bytes each, load {}",
        plan.rounds,
        common::load()
    );
    let layouts = [("two CPUs", cpus), ("one CPU", Cpus { second: cpus.first, ..cpus })];
    let mut results: [[Results; 2]; 2] = Default::default();
    for round in 0..plan.rounds {
        for (layout, (_, cpus)) in layouts.iter().enumerate() {
            for place in 0..2 {
                let which = (round + place) % 2;
                results[layout][which].add(*cpus, SERVERS[which].1, messages, trips);
            }
        }
    }
    for ((layout, _), results) in layouts.iter().zip(&results) {
        report(plan, layout, results);
    }
    println!("  load afterwards {}", common::load());
}

impl Results {
    fn add(&mut self, cpus: Cpus, serve: Serve, messages: usize, trips: usize) {
        let (took, busy) = with_server(cpus, serve, |address| many(address, messages));
        self.rate.push(messages as f64 / took.as_secs_f64());
        self.cost.push(busy.as_secs_f64() * 1e6 / messages as f64);
        let (trips, _) = with_server(cpus, serve, |address| one(address, trips));
        self.trip.push(quantile(&trips, 0.5).unwrap_or(f64::NAN));
    }
}

fn report(plan: Plan, layout: &str, results: &[Results; 2]) {
    println!("  {layout}, min / median / max");
    println!(
        "    {:<24} {:>28} {:>24} {:>24}",
        "", "messages/s, 64 connect.", "server's CPU µs each", "round trip p50 µs, 1"
    );
    for ((name, _), results) in SERVERS.iter().zip(results) {
        let columns = (spread(&results.rate, 0), spread(&results.cost, 2), spread(&results.trip, 1));
        println!("    {name:<24} {:>28} {:>24} {:>24}", columns.0, columns.1, columns.2);
    }
    let [ours, bare] = results;
    let (rate, trip) = (Ratio::of(&ours.rate, &bare.rate), Ratio::of(&ours.trip, &bare.trip));
    println!("    ours / bare: server's CPU time a message {}", Ratio::of(&ours.cost, &bare.cost));
    println!(
        "    ours / bare: messages/s {rate}, goal at least {RATE_GOAL}: {}",
        plan.words(rate.of_medians >= RATE_GOAL)
    );
    println!(
        "    ours / bare: round trip {trip}, goal at most {TRIP_GOAL}: {}",
        plan.words(trip.of_medians <= TRIP_GOAL)
    );
}

/// Starts a server, runs the clients and stops it; what they say, and the CPU time that the server used.
fn with_server<R: Send>(
    cpus: Cpus,
    serve: Serve,
    clients: impl FnOnce(SocketAddr) -> io::Result<R> + Send,
) -> (R, Duration) {
    let (started, server) = crossbeam_channel::bounded(1);
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            common::pin(cpus.first);
            serve(&started);
            common::thread_cpu_time()
        });
        let Started { address, stop } = server.recv().expect("a server starts");
        let result = common::pinned(cpus.second, || clients(address)).expect("loopback works");
        stop();
        (result, thread.join().expect("a server does not panic"))
    })
}

/// Sends back each line as soon as it is there, and flushes when a batch of reads is over.
#[derive(Debug)]
struct Echo;

impl Handler for Echo {
    fn inbound(&self, ctx: &Context, event: Inbound) {
        match event {
            Inbound::Read(Message::Bytes(mut line)) => {
                line.push(b'\n');
                ctx.write(Message::Bytes(line));
            }
            Inbound::ReadComplete => ctx.forward(Outbound::Flush),
            event => ctx.fire(event),
        }
    }
}

fn serve_pipeline(started: &Sender<Started>) {
    let clock = Clock::wall();
    let mut event_loop = common::event_loop(&clock);
    let handle = event_loop.handle().clone();
    let child = |channel: &Channel| {
        let pipeline = channel.pipeline();
        pipeline.add_last(channel, "lines", LineDecoder::new(1024)).expect("it is new");
        pipeline.add_last(channel, "echo", Echo).expect("it is new");
    };
    let bootstrap = ServerBootstrap {
        network: Arc::new(TcpNetwork::new()),
        boss: handle.clone(),
        workers: Group::new(vec![handle.clone()]),
        backlog: 128,
        parent: Arc::new(|_| {}),
        child: Arc::new(child),
        next_tag: Arc::new(|| ChannelTag(1)),
        settings: Settings::default(),
    };
    let listening = bootstrap.bind(ChannelTag(0), &clock, |_| {});
    let address = loop {
        event_loop.turn().expect("the poller works");
        if let Ok(address) = listening.local_address() {
            break address;
        }
    };
    let stopper = handle.clone();
    let stop = Box::new(move || stopper.end());
    started.send(Started { address, stop }).expect("somebody waits for it");
    event_loop.run().expect("the poller works");
    // Channels refer to their loop.
    handle.discard();
}

/// The least that a mio server can do: read until a short read, send the same back.
fn serve_bare(started: &Sender<Started>) {
    const LISTENER: Token = Token(usize::MAX);
    const STOP: Token = Token(usize::MAX - 1);
    let mut poll = Poll::new().expect("a poll");
    let mut events = Events::with_capacity(1024);
    // Kept until the end: a waker that is dropped right after its call may take the call with it.
    let waker = Arc::new(Waker::new(poll.registry(), STOP).expect("a waker"));
    let mut listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a port");
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE).expect("a registration");
    let address = listener.local_addr().expect("a bound listener");
    let stopper = waker.clone();
    let stop = Box::new(move || stopper.wake().expect("a wake-up"));
    started.send(Started { address, stop }).expect("somebody waits for it");
    let mut streams: Vec<TcpStream> = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        poll.poll(&mut events, None).expect("the poll works");
        for event in &events {
            match event.token() {
                STOP => return,
                LISTENER => {
                    while let Ok((mut stream, _)) = listener.accept() {
                        stream.set_nodelay(true).expect("an option of TCP");
                        let token = Token(streams.len());
                        poll.registry().register(&mut stream, token, Interest::READABLE).expect("a registration");
                        streams.push(stream);
                    }
                }
                Token(which) => echo(&mut streams[which], &mut buffer, event.is_read_closed()),
            }
        }
    }
}

fn echo(stream: &mut TcpStream, buffer: &mut [u8], read_closed: bool) {
    loop {
        match stream.read(buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => {
                stream.write_all(&buffer[..count]).expect("room for a message");
                if count < buffer.len() && !read_closed {
                    return;
                }
            }
        }
    }
}

fn connected(address: SocketAddr) -> io::Result<std::net::TcpStream> {
    let stream = std::net::TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// 64 connections with one message out each, until so many have come back; how long that took.
fn many(address: SocketAddr, messages: usize) -> io::Result<Duration> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1024);
    let mut streams = Vec::with_capacity(CONNECTIONS);
    for which in 0..CONNECTIONS {
        let stream = connected(address)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        poll.registry().register(&mut stream, Token(which), Interest::READABLE)?;
        streams.push((stream, 0));
    }
    let clock = Clock::wall();
    let line = message();
    let mut buffer = [0; 4 * LINE];
    let began = clock.now();
    for (stream, _) in &mut streams {
        stream.write_all(&line)?;
    }
    let (mut sent, mut back) = (CONNECTIONS, 0);
    while back < messages {
        poll.poll(&mut events, None)?;
        for event in &events {
            let (stream, arrived) = &mut streams[event.token().0];
            match stream.read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => *arrived += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error),
            }
            if *arrived == LINE {
                *arrived = 0;
                back += 1;
                if sent < messages {
                    sent += 1;
                    stream.write_all(&line)?;
                }
            }
        }
    }
    Ok(clock.now().since(began))
}

/// One connection, one message after the other; each round trip in µs.
fn one(address: SocketAddr, trips: usize) -> io::Result<Vec<f64>> {
    let mut stream = connected(address)?;
    let clock = Clock::wall();
    let line = message();
    let mut buffer = [0; LINE];
    let mut trip = || {
        let began = clock.now();
        stream.write_all(&line)?;
        stream.read_exact(&mut buffer)?;
        Ok(clock.now().since(began).as_nanos() as f64 / 1000.0)
    };
    (0..trips).map(|_| trip()).collect()
}
