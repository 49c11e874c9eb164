//! Whether a scenario makes sense: every name it uses exists once, and its numbers are within bounds.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{Action, HandlerKind, HandlerSpec, Model, Scenario};

/// Why a scenario can't be run. The place is a path into the scenario's JSON.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScenarioError {
    /// A name that nothing carries.
    #[error("{place}: there is no {what} named \"{name}\"; the scenario has {known}")]
    Unknown {
        /// Where it is used.
        place: String,
        /// task, future, loop or promise.
        what: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A name that two things carry.
    #[error("{place}: the name \"{name}\" is taken; give each {what} its own")]
    Twice {
        /// Where the second one stands.
        place: String,
        /// What carries it.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A number that can't be carried out.
    #[error("{place}: {problem}")]
    Number {
        /// Where it stands.
        place: String,
        /// What is wrong and what would be right.
        problem: String,
    },
}

/// How many loops, threads, tasks or promises a scenario may have, each.
const MOST_OF_ONE_KIND: usize = 10_000;
/// The states of the wake-up model grow with the square of this.
const MOST_POSTS: u32 = 50;
/// How deep actions may be nested.
const DEEPEST: usize = 32;

impl Scenario {
    /// Checks every name and number.
    ///
    /// # Errors
    /// The first thing that can't be carried out, with its place.
    pub fn check(&self) -> Result<(), ScenarioError> {
        if let Some(Model::Wakeup { posts }) = self.model
            && posts > MOST_POSTS
        {
            return Err(number("model.wakeup.posts", &format!("more than {MOST_POSTS} posts are not tried")));
        }
        let loops = unique("loops", "loop", self.loops.iter().map(|l| l.name.as_str()), BTreeSet::new())?;
        if loops.is_empty() {
            return Err(number("loops", "a scenario needs at least one loop"));
        }
        unique("threads", "thread", self.threads.iter().map(|t| t.name.as_str()), loops.clone())?;
        let tasks = unique("tasks", "task", self.tasks.iter().map(|t| t.name.as_str()), BTreeSet::new())?;
        let promises = self.promises.iter().map(|p| p.name.as_str());
        let futures = unique("promises", "promise or task", promises, tasks.clone())?;
        let permits = self.permits.iter().map(|p| p.name.as_str());
        let permits = unique("permits", "group of permits", permits, BTreeSet::new())?;
        let servers = unique("servers", "server", self.servers.iter().map(|s| s.name.as_str()), futures.clone())?;
        let clients = unique("clients", "client", self.clients.iter().map(|c| c.name.as_str()), servers)?;
        let servers = self.servers.iter().map(|s| s.name.as_str()).collect();
        // Each task, promise, server and client has a future of its name.
        let names = Names {
            loops,
            tasks,
            futures: clients,
            permits,
            servers,
            clients: self.clients.iter().map(|c| c.name.as_str()).collect(),
        };
        names.connections(self)?;
        for (index, promise) in self.promises.iter().enumerate() {
            names.known(&names.loops, "loop", &promise.owner, || format!("promises[{index}].loop"))?;
        }
        for (index, empty) in self.environment.spurious_returns.iter().enumerate() {
            names.known(&names.loops, "loop", &empty.on, || {
                format!("environment.spurious_returns[{index}].loop")
            })?;
        }
        for (index, script) in self.threads.iter().enumerate() {
            names.steps(&script.steps, &format!("threads[{index}].steps"), 0)?;
        }
        for (index, task) in self.tasks.iter().enumerate() {
            names.steps(&task.body, &format!("tasks[{index}].body"), 0)?;
        }
        Ok(())
    }
}

fn number(place: &str, problem: &str) -> ScenarioError {
    ScenarioError::Number { place: place.into(), problem: problem.into() }
}

fn unique<'a>(
    list: &str,
    what: &'static str,
    names: impl Iterator<Item = &'a str>,
    mut taken: BTreeSet<&'a str>,
) -> Result<BTreeSet<&'a str>, ScenarioError> {
    for (index, name) in names.enumerate() {
        let place = format!("{list}[{index}]");
        if index >= MOST_OF_ONE_KIND {
            return Err(number(&place, &format!("more than {MOST_OF_ONE_KIND} are not carried out")));
        }
        if !taken.insert(name) {
            return Err(ScenarioError::Twice { place, what, name: name.into() });
        }
    }
    Ok(taken)
}

struct Names<'a> {
    loops: BTreeSet<&'a str>,
    tasks: BTreeSet<&'a str>,
    /// Tasks, promises, servers and clients: each has a future of its name.
    futures: BTreeSet<&'a str>,
    permits: BTreeSet<&'a str>,
    servers: BTreeSet<&'a str>,
    clients: BTreeSet<&'a str>,
}

impl Names<'_> {
    fn known(
        &self,
        names: &BTreeSet<&str>,
        what: &'static str,
        name: &str,
        place: impl FnOnce() -> String,
    ) -> Result<(), ScenarioError> {
        if names.contains(name) {
            return Ok(());
        }
        let known =
            if names.is_empty() { "none".into() } else { names.iter().copied().collect::<Vec<_>>().join(", ") };
        Err(ScenarioError::Unknown { place: place(), what, name: name.into(), known })
    }

    fn connections(&self, scenario: &Scenario) -> Result<(), ScenarioError> {
        let on_loop = |name: &str, place: String| self.known(&self.loops, "loop", name, || place);
        for (index, server) in scenario.servers.iter().enumerate() {
            let place = format!("servers[{index}]");
            on_loop(&server.boss, format!("{place}.boss"))?;
            self.group(&server.workers, &format!("{place}.workers"))?;
            self.handlers(&server.parent, &format!("{place}.parent"), 0)?;
            self.handlers(&server.child, &format!("{place}.child"), 0)?;
        }
        for (index, client) in scenario.clients.iter().enumerate() {
            let place = format!("clients[{index}]");
            self.group(&client.loops, &format!("{place}.loops"))?;
            self.handlers(&client.handlers, &format!("{place}.handlers"), 0)?;
            if client.count == 0 || client.count as usize > MOST_OF_ONE_KIND {
                return Err(number(&format!("{place}.count"), &format!("give 1 to {MOST_OF_ONE_KIND}")));
            }
            if let Some(server) = &client.to {
                self.known(&self.servers, "server", server, || format!("{place}.to"))?;
            }
        }
        Ok(())
    }

    fn group(&self, loops: &[String], place: &str) -> Result<(), ScenarioError> {
        if loops.is_empty() {
            return Err(number(place, "at least one loop is needed"));
        }
        loops.iter().try_for_each(|name| self.known(&self.loops, "loop", name, || place.into()))
    }

    fn handlers(&self, handlers: &[HandlerSpec], place: &str, depth: usize) -> Result<(), ScenarioError> {
        for (index, handler) in handlers.iter().enumerate() {
            let place = format!("{place}[{index}]");
            handler
                .group
                .iter()
                .try_for_each(|name| self.known(&self.loops, "loop", name, || format!("{place}.group")))?;
            if let HandlerKind::Reactor(reactions) = &handler.kind {
                for (index, reaction) in reactions.iter().enumerate() {
                    self.steps(&reaction.body, &format!("{place}.kind.reactor[{index}].body"), depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn steps(&self, actions: &[Action], place: &str, depth: usize) -> Result<(), ScenarioError> {
        if depth > DEEPEST {
            return Err(number(place, &format!("actions are nested more than {DEEPEST} deep")));
        }
        actions
            .iter()
            .enumerate()
            .try_for_each(|(index, action)| self.action(action, &format!("{place}[{index}]"), depth))
    }

    fn action(&self, action: &Action, place: &str, depth: usize) -> Result<(), ScenarioError> {
        let task = |name: &str| self.known(&self.tasks, "task", name, || format!("{place}.task"));
        let future =
            |name: &str, key: &str| self.known(&self.futures, "future", name, || format!("{place}.{key}"));
        let channel_of = |name: &str| {
            let known = self.clients.union(&self.servers).copied().collect();
            self.known(&known, "client or server", name, || format!("{place}.channel"))
        };
        let on = |name: &Option<String>| match name {
            Some(name) if name == "channel" => Ok(()),
            Some(name) => self.known(&self.loops, "loop", name, || format!("{place}.on")),
            None => Ok(()),
        };
        match action {
            Action::Execute { task: name, on: target }
            | Action::Submit { task: name, on: target }
            | Action::Schedule { task: name, on: target, .. }
            | Action::ScheduleAt { task: name, on: target, .. }
            | Action::Spread { task: name, on: target, .. } => task(name).and_then(|()| on(target)),
            Action::Periodic { task: name, on: target, period, .. } => {
                if period.is_zero() {
                    return Err(number(&format!("{place}.period_ms"), "a period must be longer than 0"));
                }
                task(name).and_then(|()| on(target))
            }
            Action::Gauges { on: target } | Action::Wake { on: target } => on(target),
            Action::Shutdown { on: target, quiet: Some(quiet), timeout: Some(timeout) } if timeout < quiet => {
                on(target).and_then(|()| {
                    let problem = "a time-out must not be shorter than the quiet period";
                    Err(number(&format!("{place}.timeout_ms"), problem))
                })
            }
            Action::Shutdown { on: target, .. } => on(target),
            Action::Acquire { permits, .. } | Action::Release { permits } => {
                self.known(&self.permits, "permits", permits, || format!("{place}.permits"))
            }
            Action::Cancel { task: name, .. } => future(name, "task"),
            Action::Wait { future: name, .. } if self.loops.contains(name.as_str()) => Ok(()),
            Action::Wait { future: name, .. } => future(name, "future"),
            Action::Listen { future: name, task: listener } => {
                future(name, "future").and_then(|()| task(listener))
            }
            Action::Complete { promise } => {
                if self.tasks.contains(promise.as_str()) {
                    return Err(number(&format!("{place}.promise"), "a task's future is completed by the task"));
                }
                future(promise, "promise")
            }
            Action::OnRun { body, .. } | Action::Repeat { body, .. } | Action::Paced { body, .. } => {
                self.steps(body, &format!("{place}.body"), depth + 1)
            }
            Action::Catch { body, handler } => {
                self.steps(body, &format!("{place}.body"), depth + 1)?;
                self.steps(handler, &format!("{place}.handler"), depth + 1)
            }
            Action::If { then, otherwise, .. } => {
                self.steps(then, &format!("{place}.then"), depth + 1)?;
                self.steps(otherwise, &format!("{place}.otherwise"), depth + 1)
            }
            Action::Bind { server } | Action::CloseAccepted { server } => {
                self.known(&self.servers, "server", server, || format!("{place}.server"))
            }
            Action::Connect { client } | Action::StopReconnecting { client } => {
                self.known(&self.clients, "client", client, || format!("{place}.client"))
            }
            Action::EndOutput { channel } => {
                self.known(&self.clients, "client", channel, || format!("{place}.channel"))
            }
            Action::Write { channel, then, .. } | Action::Close { channel, then } => {
                channel.as_deref().map_or(Ok(()), channel_of)?;
                then.as_deref().map_or(Ok(()), task)
            }
            Action::OnClosed { channel, task: name } => {
                channel.as_deref().map_or(Ok(()), channel_of)?;
                task(name)
            }
            Action::Compose { task: name, pool, then, .. } => {
                task(name)?;
                task(then)?;
                self.known(&self.loops, "loop", pool, || format!("{place}.pool"))
            }
            Action::Embed { handlers, .. } => self.handlers(handlers, &format!("{place}.handlers"), depth + 1),
            Action::AskLoop
            | Action::AskRemote
            | Action::AskOpen
            | Action::Until { .. }
            | Action::Block { .. }
            | Action::Spin { .. }
            | Action::Mark { .. }
            | Action::Warn { .. }
            | Action::Throw
            | Action::Return { .. }
            | Action::Look
            | Action::Read { .. }
            | Action::Set { .. }
            | Action::Stamp { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::scenario::{Steps, task};

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_scenario_survives_json() {
        let mut s = Scenario::one_loop(10 * MS);
        s.promise("close", "loop-1");
        s.main()
            .fixed_rate(
                MS,
                2 * MS,
                task("tick").on_run(2, |t| t.throw()).catch(|t| t.throw(), |t| t.warn("caught")),
            )
            .listen("close", task("closed"))
            .until(5 * MS)
            .complete("close");
        s.check().unwrap();
        let json = serde_json::to_string(&s).unwrap();
        assert_eq!(serde_json::from_str::<Scenario>(&json).unwrap(), s);
    }

    #[test]
    fn an_unknown_name_is_named_with_its_place() {
        let mut s = Scenario::one_loop(10 * MS);
        s.main().execute(task("a").cancel("b"));
        let error = s.check().unwrap_err().to_string();
        assert_eq!(error, "tasks[0].body[0].task: there is no future named \"b\"; the scenario has a");
    }

    #[test]
    fn names_are_unique_and_periods_positive() {
        let mut s = Scenario::one_loop(10 * MS);
        s.main().execute(task("a")).execute(task("a"));
        assert!(matches!(s.check(), Err(ScenarioError::Twice { .. })));
        let mut s = Scenario::one_loop(10 * MS);
        s.main().fixed_rate(MS, Duration::ZERO, task("a"));
        assert!(s.check().unwrap_err().to_string().contains("period_ms"));
    }
}
