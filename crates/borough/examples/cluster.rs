//! A cluster of three processes on this machine, in one command: `cargo run --example cluster`.
//!
//! They find each other, talk by typed refs, lose one to `kill -9`, notice it, and leave in order; it ends by itself after some ten seconds.
//! Without arguments the program starts the three. Each of them is the same program, with its name and the ports as arguments.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use borough::prelude::*;
use serde::{Deserialize, Serialize};
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

    let shown = tokio::spawn(show(node.topology()));
    if name == "uptown" {
        talk(&node).await?;
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

/// Speaks to the offices of the other nodes.
async fn talk(node: &Node) -> Result<(), borough::Error> {
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

    let topology = node.topology().wait_until(|topology| topology.tolerates() > 0).await?;
    println!("the cluster can lose {} of its {} voters", topology.tolerates(), topology.voters.now.len());
    let stopped = downtown.stopped();
    println!("watches {}", downtown.path());
    tokio::spawn(async move {
        let gone = stopped.await;
        println!("{} is gone: {:?}", gone.path, gone.reason);
        if let Err(error) = downtown.tell(Post::Letter("too late".into())).await {
            println!("told it a letter: {error}");
        }
    });
    Ok(())
}

/// Starts the three, kills one, and has the others leave.
fn start_three() -> Result<(), borough::Error> {
    let mut ports = Vec::new();
    for listener in [free_port()?, free_port()?, free_port()?] {
        ports.push(listener.local_addr()?.port().to_string());
    }
    let (say, heard) = channel();
    let lines = Lines { heard, began: Instant::now() };
    let [uptown, midtown, mut downtown] =
        [start(NAMES[0], &ports, &say)?, start(NAMES[1], &ports, &say)?, start(NAMES[2], &ports, &say)?];

    lines.until(1, |name, line| name == "uptown" && line.starts_with("watches"))?;
    downtown.kill()?;
    downtown.wait()?;
    lines.print("", "kill -9 downtown");
    lines.until(3, |_, line| {
        line.starts_with("told it") || line.starts_with("member") && !line.contains("downtown")
    })?;
    for (name, mut child) in [("midtown", midtown), ("uptown", uptown)] {
        lines.print("", &format!("{name} is to leave"));
        drop(child.stdin.take());
        lines.until(1, |_, line| line.starts_with("left"))?;
        let status = child.wait()?;
        if !status.success() {
            return Err(format!("{name} ended with {status}").into());
        }
    }
    Ok(())
}

/// Holds a port that nobody uses until it is dropped.
fn free_port() -> std::io::Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0")
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
