//! A cluster of three processes on this machine, in one command: `cargo run --example cluster`.
//!
//! They find each other, talk by typed refs, and host a thousand sensors, each in one place. One node is lost to `kill -9`: what it hosted begins anew on the others. One leaves: what
//! it hosted moves, with what each sensor had counted. It ends by itself after some twelve seconds.
//!
//! Without arguments the program starts the three. Each of them is the same program, with its name and the ports as arguments.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use borough::AskError;
use borough::cluster::KindStats;
use borough::prelude::*;
use tokio::io::AsyncReadExt;

/// What can be said to a post office, from any node: the ref and the replies in it travel too.
#[derive(Serialize, Deserialize)]
enum Post {
    Letter(String),
    Count(Reply<usize>),
    /// Has another office answer.
    CountOf(ActorRef<Post>, Reply<usize>),
}

#[derive(Default)]
struct Office {
    letters: Vec<String>,
}

impl Actor for Office {
    type Msg = Post;
    async fn receive(&mut self, msg: Post, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Post::Letter(letter) => self.letters.push(letter),
            Post::Count(reply) => reply.send(self.letters.len()),
            Post::CountOf(other, reply) => {
                other.tell(Post::Count(reply)).await.map_err(|error| Fault::new(error.to_string()))?;
            }
        }
        Ok(())
    }
}

/// What can be said to a sensor, from any node, by its id.
#[derive(Serialize, Deserialize)]
enum Reading {
    Taken,
    Count(Reply<u64>),
}

/// A sensor. What it has counted moves with it.
#[derive(Default, Serialize, Deserialize)]
struct Sensor {
    readings: u64,
}

impl Actor for Sensor {
    type Msg = Reading;
    async fn receive(&mut self, msg: Reading, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Reading::Taken => self.readings += 1,
            Reading::Count(reply) => reply.send(self.readings),
        }
        Ok(())
    }
}

const SENSORS: u64 = 1000;
const NAMES: [&str; 3] = ["uptown", "midtown", "downtown"];

fn main() -> Result<(), borough::Error> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next() {
        Some(name) => be_a_node(&name, &arguments.collect::<Vec<_>>()),
        None => start_three(),
    }
}

/// One of the three. It leaves when its standard input ends.
#[tokio::main]
async fn be_a_node(name: &str, ports: &[String]) -> Result<(), borough::Error> {
    let addresses: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let own = NAMES.iter().position(|other| *other == name).and_then(|place| addresses.get(place));
    let own = own.ok_or("usage: cluster [uptown|midtown|downtown PORT PORT PORT]")?;
    let node = Node::builder("city").node_id(name).listen(own).seeds(&addresses).start().await?;
    let office = node.actor(Office::default).name("office").spawn()?;
    node.expose(&office)?;
    // Every node that is to host sensors starts them, with the same settings. None is given a place before all three are there to have some.
    let sensors =
        node.shard("sensors", |_id| Sensor::default()).migrate_state().min_regions(3).start().await?;

    let shown = tokio::spawn(show(node.topology()));
    if name == "uptown" {
        let downtown = talk(&node).await?;
        measure(&node, &sensors).await?;
        lose_two(&node, &sensors, downtown).await?;
    }
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    node.shutdown().await;
    Ok(shown.await?)
}

/// Prints how the node stands to its cluster and who is up, whenever that changes.
async fn show(mut topology: Topology) {
    let mut before = String::new();
    while let Ok(now) = topology.changed().await {
        let up: Vec<_> = now.up().map(|member| member.node_id().as_str()).collect();
        let line = format!("{}, up: {}", now.standing, up.join(" "));
        if line != before {
            println!("{line}");
            before = line;
        }
    }
}

/// Speaks to the offices of the other nodes; gives that of downtown.
async fn talk(node: &Node) -> Result<ActorRef<Post>, borough::Error> {
    node.wait_for(3).await?;
    let midtown = node.lookup::<Post>("/office").on("midtown").await?;
    let downtown = node.lookup::<Post>("/office").on("downtown").await?;
    for letter in ["the first", "the second", "the third"] {
        midtown.tell(Post::Letter(letter.into())).await?;
    }
    println!("told {} three letters; it has {}", midtown.path(), midtown.ask(Post::Count).await?);
    let count = midtown.ask(|reply| Post::CountOf(downtown.clone(), reply)).await?;
    println!("asked {}, which had {} answer: it has {count}", midtown.path(), downtown.path());
    for (name, count) in node.broadcast::<Post>("/office").ask(Post::Count).await {
        println!("asked all: {name} has {}", count?);
    }
    Ok(downtown)
}

/// Has every sensor count one reading. Its first message makes it, on the node that hosts its shard.
async fn measure(node: &Node, sensors: &Region<Reading>) -> Result<(), borough::Error> {
    for id in 0..SENSORS {
        sensors.tell(id, Reading::Taken).await?;
    }
    println!("{} sensors, {} readings", SENSORS, count(sensors).await?.iter().sum::<u64>());
    for (name, stats) in node.sharding_stats().await {
        println!("{name} hosts {} sensors", stats?.kinds.iter().map(KindStats::entities).sum::<usize>());
    }
    Ok(())
}

/// How many readings each sensor has. An ask to a node that was lost a moment ago fails; to count twice does no harm, so it is asked again.
async fn count(sensors: &Region<Reading>) -> Result<Vec<u64>, borough::Error> {
    let mut counts = Vec::new();
    for id in 0..SENSORS {
        let readings = loop {
            match sensors.ask(id, Reading::Count).await {
                Err(AskError::NodeLost { .. }) => tokio::time::sleep(Duration::from_millis(10)).await,
                answer => break answer?,
            }
        };
        counts.push(readings);
    }
    Ok(counts)
}

/// One node crashes, then another leaves.
async fn lose_two(
    node: &Node,
    sensors: &Region<Reading>,
    downtown: ActorRef<Post>,
) -> Result<(), borough::Error> {
    let topology = node.topology().wait_until(|topology| topology.tolerates() > 0).await?;
    println!("the cluster can lose {} of its {} voters", topology.tolerates(), topology.voters.now.len());
    println!("watches {}", downtown.path());
    let gone = downtown.stopped().await;
    println!("{} is gone: {:?}", gone.path, gone.reason);
    if let Err(error) = downtown.tell(Post::Letter("too late".into())).await {
        println!("told it a letter: {error}");
    }

    // What lived there waits until its lease is over by any clock, then begins anew: its state was in the process that is gone.
    let anew = count(sensors).await?.iter().filter(|readings| **readings == 0).count();
    println!("all {SENSORS} sensors answer again, {anew} of them began anew");
    for id in 0..SENSORS {
        sensors.tell(id, Reading::Taken).await?;
    }
    let before = count(sensors).await?;
    println!("ready for midtown to leave: {} readings", before.iter().sum::<u64>());

    node.topology().wait_until(|topology| topology.named("midtown").next().is_none()).await?;
    let after = count(sensors).await?;
    let kept = if after == before { "as before" } else { "NOT as before" };
    println!("midtown has left: {} readings, {kept}", after.iter().sum::<u64>());
    Ok(())
}

/// Starts the three, kills one, and has the others leave.
fn start_three() -> Result<(), borough::Error> {
    let ports = three_ports()?;
    let (say, heard) = channel();
    let lines = Lines { heard, began: Instant::now() };
    let [uptown, midtown, mut downtown] =
        [start(NAMES[0], &ports, &say)?, start(NAMES[1], &ports, &say)?, start(NAMES[2], &ports, &say)?];

    lines.until(1, |name, line| name == "uptown" && line.starts_with("watches"))?;
    downtown.kill()?;
    downtown.wait()?;
    lines.print("", "kill -9 downtown");
    lines.until(1, |name, line| name == "uptown" && line.starts_with("ready for"))?;
    for (name, mut child) in [("midtown", midtown), ("uptown", uptown)] {
        lines.print("", &format!("{name} is to leave"));
        drop(child.stdin.take());
        // Uptown has still to see that midtown took nothing with it.
        let wanted = if name == "midtown" { 2 } else { 1 };
        lines.until(wanted, |_, line| line.starts_with("left") || line.starts_with("midtown has left"))?;
        let status = child.wait()?;
        if !status.success() {
            return Err(format!("{name} ended with {status}").into());
        }
    }
    Ok(())
}

/// Ports of this machine that nobody uses at the moment. They are below those from which the system draws the ports of connections, so that none takes them meanwhile.
fn three_ports() -> Result<Vec<String>, borough::Error> {
    let first = 20_000 + u16::try_from(std::process::id() % 1_000)? * 10;
    let free = (first..32_768).filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    Ok(free.take(3).map(|port| port.to_string()).collect())
}

/// Starts a node in a process of its own; what it prints is sent to `say`.
fn start(
    name: &'static str,
    ports: &[String],
    say: &Sender<(&'static str, String)>,
) -> std::io::Result<Child> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(name)
        .args(ports)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (say, printed) = (say.clone(), child.stdout.take());
    thread::spawn(move || {
        for line in printed.into_iter().flat_map(|printed| BufReader::new(printed).lines()) {
            let Ok(line) = line else { return };
            if say.send((name, line)).is_err() {
                return;
            }
        }
    });
    Ok(child)
}

/// What the three print.
struct Lines {
    heard: Receiver<(&'static str, String)>,
    began: Instant,
}

impl Lines {
    /// Prints what comes until that many lines were as wanted.
    fn until(&self, count: usize, wanted: impl Fn(&str, &str) -> bool) -> Result<(), borough::Error> {
        let mut seen = 0;
        while seen < count {
            let (name, line) = self.heard.recv_timeout(Duration::from_secs(60))?;
            self.print(name, &line);
            seen += usize::from(wanted(name, &line));
        }
        Ok(())
    }

    fn print(&self, name: &str, line: &str) {
        println!("{:5.1} s  {name:9} {line}", self.began.elapsed().as_secs_f64());
    }
}
