//! Nothing is left when a run has ended: no descriptor, no thread; also when a scenario fails half-way.
//!
//! Counts what the whole process has, so these tests are alone in their binary and take turns.
#![cfg(target_os = "linux")]

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use loopprobe::builtin::{RunError, run_real, run_virtual};
use loopprobe::policy::PolicyName;
use loopprobe::scenario::{ClientSpec, HandlerSpec, Scenario, ServerSpec, Steps, task};

static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn count(folder: &str) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

/// A thread that has been joined may be listed for a moment longer; a thread that leaks stays.
fn settled(before: usize) -> usize {
    let mut now = count("/proc/self/task");
    for _ in 0..1000 {
        if now <= before {
            break;
        }
        std::thread::yield_now();
        now = count("/proc/self/task");
    }
    now
}

fn conversation(clients: u32) -> Scenario {
    let mut s = Scenario::loops(&["boss-1", "worker-1", "client-1"], Duration::from_millis(60));
    s.server(ServerSpec {
        name: "server".into(),
        boss: "boss-1".into(),
        workers: vec!["worker-1".into()],
        parent: vec![],
        child: vec![HandlerSpec::reactor("child")],
        half_closure: false,
    });
    s.client(ClientSpec {
        name: "client".into(),
        count: clients,
        loops: vec!["client-1".into()],
        to: Some("server".into()),
        handlers: vec![HandlerSpec::reactor("client")],
        reconnect: None,
    });
    s.main().bind("server").wait("server", Duration::from_secs(2)).connect("client");
    s
}

fn nothing_is_left_by(run: impl Fn()) {
    let _turn = turn();
    // What the first run sets up once for the process is not left over by it.
    run();
    let (descriptors, threads) = (count("/proc/self/fd"), count("/proc/self/task"));
    for _ in 0..3 {
        run();
    }
    assert_eq!(count("/proc/self/fd"), descriptors, "descriptors");
    assert_eq!(settled(threads), threads, "threads");
}

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn by_a_real_run_with_connections() {
    nothing_is_left_by(|| {
        run_real(&conversation(20), PolicyName::Netty.policy(), 1, LIMIT).unwrap();
    });
}

#[test]
fn by_a_virtual_run_with_connections() {
    nothing_is_left_by(|| {
        run_virtual(&conversation(20), PolicyName::Netty.policy(), 1).unwrap();
    });
}

#[test]
fn by_a_scenario_that_fails_half_way() {
    nothing_is_left_by(|| {
        let mut s = conversation(5);
        s.main().throw().execute(task("never"));
        run_real(&s, PolicyName::Netty.policy(), 1, LIMIT).unwrap();
        run_virtual(&s, PolicyName::Netty.policy(), 1).unwrap();
    });
}

#[test]
fn by_a_scenario_that_needs_too_much() {
    nothing_is_left_by(|| {
        let mut s = conversation(1);
        s.clients[0].count = 10_000_000;
        let error = run_real(&s, PolicyName::Netty.policy(), 1, LIMIT).unwrap_err();
        assert!(matches!(error, RunError::Scenario(_)), "{error}");
    });
}
