//! Who gets the baton, when the clock moves, and how a world ends.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

const MS: Duration = Duration::from_millis(1);

type Script = fn(&World, &dyn Fn(&str));

/// Runs each script as an actor and gives what they logged, in order, and how the world ended.
fn play(scripts: &[(&str, Script)]) -> (Vec<String>, Option<Stuck>) {
    let world = World::new();
    let log = Mutex::new(Vec::new());
    let ids: Vec<ActorId> = scripts.iter().map(|(name, _)| world.register(name)).collect();
    std::thread::scope(|scope| {
        for ((name, script), id) in scripts.iter().zip(ids) {
            let (world, log) = (&world, &log);
            scope.spawn(move || {
                let say = |what: &str| log.lock().unwrap().push(format!("{} {name} {what}", world.now()));
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    world.enter(id);
                    script(world, &say);
                }));
                world.leave();
            });
        }
        world.start();
    });
    (log.into_inner().unwrap(), world.stuck())
}

#[test]
fn the_least_due_time_goes_first_and_ties_by_number() {
    let (log, stuck) = play(&[
        ("a", |w, say| {
            w.spend(20 * MS);
            say("done");
        }),
        ("b", |w, say| {
            w.spend(10 * MS);
            say("half");
            w.spend(10 * MS);
            say("done");
        }),
    ]);
    assert_eq!(log, ["10.00 b half", "20.00 a done", "20.00 b done"]);
    assert_eq!(stuck, None);
}

#[test]
fn a_wake_ends_a_block_but_not_a_spend_and_is_sticky() {
    let (log, _) = play(&[
        ("sleeper", |w, say| {
            w.block(None, "idle");
            say("woken");
            w.spend(30 * MS);
            say("spent");
            w.block(None, "idle");
            say("woken again");
        }),
        ("waker", |w, _| {
            w.spend(5 * MS);
            w.wake(ActorId(0));
            w.spend(5 * MS);
            w.wake(ActorId(0));
        }),
    ]);
    assert_eq!(log, ["5.00 sleeper woken", "35.00 sleeper spent", "35.00 sleeper woken again"]);
}

#[test]
fn a_world_where_nothing_is_left_names_its_actors() {
    let (_, stuck) = play(&[("a", |w, _| w.block(None, "waiting for a future")), ("b", |w, _| w.spend(MS))]);
    let message = stuck.unwrap().to_string();
    assert_eq!(message, "nothing is left to happen at 1.00 ms: a is waiting for a future; b is ended");
}

#[test]
fn a_clock_that_stands_still_is_an_error() {
    let (_, stuck) = play(&[("spinner", |w, _| {
        loop {
            w.block(Some(Time::ZERO), "polling");
        }
    })]);
    assert!(matches!(stuck, Some(Stuck::Endless { .. })), "{stuck:?}");
}
