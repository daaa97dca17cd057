//! A11: coordinated shutdown: phases, timeouts, what does not want to end, signals.

use std::io::{BufRead, BufReader, Write};
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use borough_actor::{
    Actor, Context, Fault, OnShutdownError, PhaseError, StartError, StopReason, System, SystemHandle,
};
use tokio::sync::Barrier;
use tokio::time::{Instant, timeout};

use crate::puppet::{Log, Puppet, act, call, hold};
use crate::support::eventually;

const SECOND: Duration = Duration::from_secs(1);
const PHASES: [&str; 4] = ["unbind", "drain", "actors", "release"];

/// Adds a task that logs its name.
fn logging(system: &SystemHandle, phase: &str, name: &'static str, log: &Log) {
    let log = log.clone();
    system
        .on_shutdown(phase, name, move || async move { log.add(name) })
        .expect("the phase exists and the shutdown has not begun");
}

#[tokio::test]
async fn the_phases_run_in_order_whatever_the_order_of_the_tasks() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    for phase in ["release", "actors", "unbind", "drain"] {
        logging(&system, phase, phase, &log);
    }
    let report = system.shutdown().await;
    assert_eq!(log.lines(), PHASES);
    assert_eq!(report.phases.iter().map(|phase| phase.name.as_str()).collect::<Vec<_>>(), PHASES);
    assert!(report.is_clean());
}

#[tokio::test]
async fn actors_live_in_the_drain_phase_and_are_gone_in_the_release_phase() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    system.spawn(Puppet::new("p", &log).maker());
    logging(&system, "drain", "draining", &log);
    logging(&system, "release", "releasing", &log);
    system.shutdown().await;
    assert_eq!(log.lines(), ["p started", "draining", "p stopping SystemStopped", "releasing"]);
}

#[tokio::test]
async fn actors_can_be_asked_and_spawned_until_the_actors_phase() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let (handle, late) = (system.handle(), Puppet::new("late", &log));
    let task = move || async move {
        call(&puppet, |puppet, _| puppet.log.add("asked")).await;
        call(&handle.spawn(late.maker()), |_, _| ()).await;
    };
    system.on_shutdown("drain", "asks", task).unwrap();
    let report = system.shutdown().await;
    assert!(report.is_clean(), "{report:?}");
    assert!(log.has("asked") && log.has("late started"), "{:?}", log.lines());
}

/// Each of the tasks waits for the other.
#[tokio::test]
async fn the_tasks_of_a_phase_run_side_by_side() {
    let system = System::new("test").unwrap();
    let both = Arc::new(Barrier::new(2));
    for name in ["one", "two"] {
        let both = both.clone();
        system.on_shutdown("drain", name, move || async move { _ = both.wait().await }).unwrap();
    }
    assert!(system.shutdown().await.is_clean());
}

struct Guard(Log);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.add("dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_hangs_is_dropped_at_the_timeout_of_its_phase_and_reported() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let guard = Guard(log.clone());
    let hanging = move || async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    };
    system.on_shutdown("unbind", "hangs", hanging).unwrap();
    logging(&system, "unbind", "quick", &log);
    logging(&system, "drain", "next", &log);
    let begun = Instant::now();
    let report = system.shutdown().await;
    assert_eq!(log.lines(), ["quick", "dropped", "next"]);
    assert_eq!(report.phases[0].failed, [r#""hangs" was not done in time"#]);
    assert!(!report.is_clean());
    let took = begun.elapsed();
    assert!(took >= SECOND * 5 && took < SECOND * 6, "{took:?}");
}

#[tokio::test]
async fn a_task_that_panics_is_reported_and_the_shutdown_goes_on() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    system.on_shutdown("unbind", "in its future", || async { panic!("ouch") }).unwrap();
    system.on_shutdown("unbind", "before it", || -> std::future::Ready<()> { panic!("ouch") }).unwrap();
    logging(&system, "unbind", "good", &log);
    logging(&system, "release", "last", &log);
    let report = system.shutdown().await;
    assert_eq!(report.phases[0].failed, [r#""before it" panicked"#, r#""in its future" panicked"#]);
    assert_eq!(log.lines(), ["good", "last"]);
    assert!(!report.is_clean());
}

#[tokio::test(start_paused = true)]
async fn an_actor_whose_turn_never_ends_is_killed_at_the_timeout_and_named() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let hanging = system.actor(Puppet::new("p", &log).maker()).name("hanging").spawn().unwrap();
    system.spawn(Puppet::new("good", &log).maker());
    let _gate = hold(&hanging);
    let gone = hanging.stopped();
    let begun = Instant::now();
    let report = system.shutdown().await;
    assert_eq!(report.killed, ["/hanging"]);
    assert_eq!(report.stuck.len(), 0);
    assert!(!report.is_clean());
    assert_eq!(gone.await.reason, Some(StopReason::Killed));
    assert!(log.has("good stopping SystemStopped") && !log.has("p stopping SystemStopped"));
    let took = begun.elapsed();
    assert!(took >= SECOND * 10 && took < SECOND * 11, "{took:?}");
}

/// Blocks its thread until it is released.
struct Blocking(mpsc::Receiver<()>);

impl Actor for Blocking {
    type Msg = mpsc::Sender<()>;
    async fn receive(&mut self, begun: mpsc::Sender<()>, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        begun.send(())?;
        // Ends when the test drops the other end.
        let _ = self.0.recv();
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_actor_that_blocks_its_thread_is_reported_stuck() {
    let system = System::builder("test").phase_timeout("actors", Duration::from_millis(20)).start().unwrap();
    let (release, blocked) = mpsc::channel();
    let mut blocked = Some(blocked);
    let make = move || Blocking(blocked.take().expect("it is never restarted"));
    let blocking = system.actor(make).name("blocking").spawn().unwrap();
    let (begun, has_begun) = mpsc::channel();
    blocking.tell(begun).await.unwrap();
    eventually("it blocks its thread", || has_begun.try_recv().is_ok()).await;
    let report = system.shutdown().await;
    assert_eq!(report.stuck, ["/blocking"]);
    assert_eq!(report.killed.len(), 0);
    assert!(!report.is_clean());
    drop(release);
    blocking.stopped().await;
}

#[tokio::test]
async fn the_whole_tree_stops_children_before_parents() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let child = Puppet::new("c", &log);
    let parent = Puppet::new("p", &log).on_started(move |ctx| {
        ctx.spawn(child.clone().maker());
        Ok(())
    });
    system.spawn(parent.maker());
    eventually("both have started", || log.count("started") == 2).await;
    assert!(system.shutdown().await.is_clean());
    assert_eq!(log.lines()[2..], ["c stopping ParentStopped", "p stopping SystemStopped"]);
    assert_eq!(system.actors(), 0);
}

#[tokio::test]
async fn a_second_shutdown_gives_the_same_report_and_runs_nothing_again() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    logging(&system, "drain", "task", &log);
    let first = system.shutdown().await;
    let second = system.shutdown().await;
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(log.lines(), ["task"]);
}

#[tokio::test]
async fn shutdowns_at_the_same_time_are_one() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    logging(&system, "drain", "task", &log);
    let (one, two, three) = tokio::join!(system.shutdown(), system.shutdown(), system.terminated());
    assert!(Arc::ptr_eq(&one, &two) && Arc::ptr_eq(&one, &three));
    assert_eq!(log.lines(), ["task"]);
}

#[tokio::test]
async fn a_shutdown_goes_on_when_nobody_waits_for_it_any_more() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let gate = Arc::new(tokio::sync::Notify::new());
    let opened = gate.clone();
    system.on_shutdown("drain", "waits", move || async move { opened.notified().await }).unwrap();
    logging(&system, "release", "released", &log);
    {
        let mut shutdown = pin!(system.shutdown());
        assert!(timeout(Duration::ZERO, &mut shutdown).await.is_err());
    }
    gate.notify_one();
    assert!(system.terminated().await.is_clean());
    assert_eq!(log.lines(), ["released"]);
}

#[tokio::test]
async fn an_actor_may_begin_the_shutdown_in_its_turn() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let order = act(|_, ctx| {
        ctx.system().begin_shutdown();
        Ok(())
    });
    puppet.tell(order).await.unwrap();
    let report = system.terminated().await;
    assert!(report.is_clean(), "{report:?}");
    assert!(log.has("p stopping SystemStopped"));
}

#[tokio::test]
async fn a_task_for_an_unknown_phase_is_refused_with_the_phases_there_are() {
    let system = System::new("test").unwrap();
    let refused = system.on_shutdown("lunch", "task", || async {}).unwrap_err();
    let known = PHASES.map(str::to_owned).to_vec();
    assert_eq!(refused, OnShutdownError::Phase(PhaseError::Unknown { name: "lunch".to_owned(), known }));
}

#[tokio::test]
async fn a_task_added_after_the_shutdown_has_begun_is_refused() {
    let system = System::new("test").unwrap();
    system.begin_shutdown();
    assert_eq!(system.on_shutdown("release", "task", || async {}), Err(OnShutdownError::Begun));
    system.terminated().await;
    assert_eq!(system.on_shutdown("release", "task", || async {}), Err(OnShutdownError::Begun));
}

#[tokio::test]
async fn a_timeout_for_an_unknown_phase_is_refused_at_the_start() {
    let refused = System::builder("test").phase_timeout("lunch", SECOND).start().unwrap_err();
    let known = PHASES.map(str::to_owned).to_vec();
    assert_eq!(refused, StartError::Phase(PhaseError::Unknown { name: "lunch".to_owned(), known }));
}

#[tokio::test]
async fn a_phase_after_an_unknown_one_is_refused_at_the_start() {
    let refused = System::builder("test").phase_after("lunch", "coffee", SECOND).start().unwrap_err();
    assert!(matches!(refused, StartError::Phase(PhaseError::Unknown { name, .. }) if name == "lunch"));
}

#[tokio::test(start_paused = true)]
async fn a_phase_of_ones_own_runs_in_its_place_with_its_timeout() {
    let builder = System::builder("test").phase_after("unbind", "leave", SECOND * 2);
    let (system, log) = (builder.start().unwrap(), Log::default());
    system.on_shutdown("leave", "hangs", std::future::pending).unwrap();
    for phase in PHASES {
        logging(&system, phase, phase, &log);
    }
    let begun = Instant::now();
    let report = system.shutdown().await;
    let names: Vec<_> = report.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["unbind", "leave", "drain", "actors", "release"]);
    assert!(begun.elapsed() >= SECOND * 2 && begun.elapsed() < SECOND * 3);
    assert_eq!(log.lines(), PHASES);
}

#[tokio::test(start_paused = true)]
async fn the_longest_timeout_there_is_does_not_panic() {
    let mut builder = System::builder("test");
    for phase in PHASES {
        builder = builder.phase_timeout(phase, Duration::MAX);
    }
    let system = builder.start().unwrap();
    let report = timeout(SECOND * 60, system.shutdown()).await;
    assert!(report.expect("the shutdown ends").is_clean());
}

#[tokio::test(start_paused = true)]
async fn a_task_of_the_actors_phase_that_hangs_does_not_take_the_actors_time() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    system.spawn(Puppet::new("p", &log).maker());
    system.on_shutdown("actors", "hangs", std::future::pending).unwrap();
    let report = system.shutdown().await;
    assert_eq!(report.killed.len(), 0, "{report:?}");
    assert!(log.has("p stopping SystemStopped"), "{:?}", log.lines());
}

#[tokio::test]
async fn subscriptions_end_with_the_system() {
    let system = System::new("test").unwrap();
    let mut events = system.events().subscribe::<u64>();
    system.events().publish(1_u64);
    system.shutdown().await;
    assert_eq!(events.next().await, Some(1));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn run_until_signal_is_ready_when_the_system_is_shut_down_in_another_way() {
    let system = System::new("test").unwrap();
    let (report, other) = tokio::join!(system.run_until_signal(), system.shutdown());
    assert!(Arc::ptr_eq(&report.unwrap(), &other));
}

/// Set in the process that is to receive the signal.
const CHILD: &str = "BOROUGH_TEST_WAITS_FOR_SIGNAL";

/// What the child does: runs until a signal comes, and says what it went through.
fn run_until_signal_and_say_so() {
    let say = |line: &str| {
        let mut out = std::io::stdout();
        writeln!(out, "\n{line}").and_then(|()| out.flush()).expect("the parent listens");
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(async {
        let (system, log) = (System::new("signalled").expect("there is a runtime"), Log::default());
        let puppet = system.spawn(Puppet::new("p", &log).maker());
        // Started for sure: a signal that comes before would shut down a system whose actor has yet to run.
        call(&puppet, |_, _| ()).await;
        logging(&system, "unbind", "unbind ran", &log);
        logging(&system, "release", "release ran", &log);
        let mut run = pin!(system.run_until_signal());
        let ready = async {
            // The signal is listened to by now: this is polled after the other.
            say("ready");
            std::future::pending::<()>().await;
        };
        let report = tokio::select! {
            biased;
            report = &mut run => report.expect("signals can be listened to"),
            () = ready => unreachable!("the task never ends"),
        };
        log.lines().iter().for_each(|line| say(line));
        say(if report.is_clean() { "clean" } else { "not clean" });
    });
}

/// Runs the test of this name again, as a process of its own.
fn child_of(test: &str) -> Child {
    Command::new(std::env::current_exe().expect("this program is a file"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this program can be run again")
}

fn send_signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("there is a kill command").success());
}

/// Runs the test of this name again, as a process of its own, sends it a signal once it is ready, and
/// gives whether it ended well and what it said.
fn signal_child(test: &str, signal: &str) -> (bool, Vec<String>) {
    let mut child = child_of(test);
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let ready = lines.by_ref().map_while(Result::ok).any(|line| line == "ready");
    assert!(ready, "the child ended before it was ready");
    send_signal(&child, signal);
    let said = lines.map_while(Result::ok).filter(|line| !line.is_empty()).collect();
    (child.wait().expect("it was started").success(), said)
}

fn a_signal_shuts_down_in_order(test: &str, signal: &str) {
    if std::env::var_os(CHILD).is_some() {
        return run_until_signal_and_say_so();
    }
    let (well, said) = signal_child(test, signal);
    let expected = ["p started", "unbind ran", "p stopping SystemStopped", "release ran", "clean"];
    assert_eq!(said[..5], expected);
    assert!(well, "{said:?}");
}

/// What the child of the next test does: its shutdown takes longer than anybody waits.
fn run_until_signal_and_never_end() {
    let say = |line: &str| {
        let mut out = std::io::stdout();
        writeln!(out, "\n{line}").and_then(|()| out.flush()).expect("the parent listens");
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(async {
        let system = System::new("signalled").expect("there is a runtime");
        let slow = system.on_shutdown("unbind", "never ends", move || async move {
            say("shutting down");
            std::future::pending::<()>().await;
        });
        slow.expect("the phase exists and the shutdown has not begun");
        let ready = async {
            say("ready");
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            _ = system.run_until_signal() => say("shut down"),
            () = ready => unreachable!("the task never ends"),
        }
    });
}

#[cfg(unix)]
#[test]
fn a_second_signal_ends_the_program_at_once() {
    if std::env::var_os(CHILD).is_some() {
        return run_until_signal_and_never_end();
    }
    let mut child = child_of("shutdown::a_second_signal_ends_the_program_at_once");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "ready"), "the child ended before it was ready");
    send_signal(&child, "-TERM");
    assert!(lines.any(|line| line == "shutting down"), "the child ended before it began to shut down");
    send_signal(&child, "-INT");
    let said: Vec<_> = lines.collect();
    assert!(!said.contains(&"shut down".to_owned()), "{said:?}");
    assert_eq!(child.wait().expect("it was started").code(), Some(130));
}

#[cfg(unix)]
#[test]
fn sigterm_shuts_a_program_down_in_order() {
    a_signal_shuts_down_in_order("shutdown::sigterm_shuts_a_program_down_in_order", "-TERM");
}

#[cfg(unix)]
#[test]
fn ctrl_c_shuts_a_program_down_in_order() {
    a_signal_shuts_down_in_order("shutdown::ctrl_c_shuts_a_program_down_in_order", "-INT");
}

#[test]
fn a_shutdown_without_a_runtime_is_ready_at_once_and_says_that_it_was_cut_short() {
    let new_runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let runtime = new_runtime();
    let system = runtime.block_on(async { System::new("test").unwrap() });
    drop(runtime);
    let ends = async { timeout(Duration::from_secs(5), system.shutdown()).await.unwrap() };
    let report = new_runtime().block_on(ends);
    assert!(report.is_cut_short && !report.is_clean(), "{report:?}");
}
