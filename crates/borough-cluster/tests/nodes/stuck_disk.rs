//! A disk that neither answers nor fails, on real sockets, threads and files.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use borough_cluster::{LeaveError, Node, Standing};
use borough_sqlite::failpoints::{Hook, Step};
use borough_sqlite::{DataDirectory, OpenOptions};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::rig::after;

/// How long anything may take on a machine that has much else to do.
const BOUND: Duration = Duration::from_secs(60);

/// A disk that takes no more writes while it is stuck.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn set_stuck(&self, is_stuck: bool) {
        *self.0.0.lock().unwrap() = is_stuck;
        self.0.1.notify_all();
    }

    fn hook(&self) -> Hook {
        let gate = self.clone();
        Arc::new(move |_, step| {
            let (is_stuck, changed) = &*gate.0;
            let stuck = is_stuck.lock().unwrap();
            drop(changed.wait_while(stuck, |stuck| *stuck && step == Step::Begin).unwrap());
            Ok(())
        })
    }
}

/// Three nodes, and the disk of the last.
struct Three {
    folders: [TempDir; 2],
    folder: TempDir,
    gate: Gate,
    others: [Node; 2],
    node: Node,
}

async fn three() -> Three {
    let (folders, folder) = ([(); 2].map(|()| TempDir::new().unwrap()), TempDir::new().unwrap());
    let gate = Gate::default();
    let builder =
        |directory: &TempDir| Node::builder("test").listen("127.0.0.1:0").data_dir(directory.path());
    let first = builder(&folders[0]).start().await.unwrap();
    let seed = first.address().as_str().to_owned();
    let second = builder(&folders[1]).seeds([seed.clone()]).start().await.unwrap();
    let node = builder(&folder).seeds([seed]).node_id("stuck").data_hook(gate.hook());
    let node = node.data_stuck_after(Duration::from_millis(600)).start().await.unwrap();
    for node in [&first, &second, &node] {
        let topology = node.topology();
        let whole = topology.wait_until(|topology| {
            topology.standing == Standing::Member
                && topology.up().count() == 3
                && topology.voters.now.len() == 3
        });
        timeout(BOUND, whole).await.expect("a minute is enough").unwrap();
    }
    Three { folders, folder, gate, others: [first, second], node }
}

#[tokio::test]
async fn a_leave_that_the_disk_did_not_take_is_no_success() {
    let three = three().await;
    three.gate.set_stuck(true);
    assert_eq!(timeout(BOUND, three.node.leave()).await.unwrap(), Err(LeaveError::Unwritten));
    three.gate.set_stuck(false);
}

#[tokio::test]
async fn a_node_that_waits_for_its_disk_can_be_told_to_leave_and_to_end() {
    let Three { folders: _folders, folder, gate, others, node } = three().await;
    let (address, life) = (node.address(), node.uid());
    gate.set_stuck(true);
    // It is removed: it forgets its log on the disk, and its next life waits until that is done.
    others[0].down("stuck").await.unwrap();
    let is_over = async {
        while node.uid() == life {
            after(Duration::from_millis(20)).await;
        }
    };
    timeout(BOUND, is_over).await.unwrap();
    assert_eq!(timeout(BOUND, node.leave()).await.unwrap(), Err(LeaveError::Unwritten));
    timeout(BOUND, node.shutdown()).await.unwrap();
    assert!(TcpStream::connect(address.as_str()).await.is_err(), "nobody listens any more");

    gate.set_stuck(false);
    let is_free = async {
        while DataDirectory::open(folder.path(), &OpenOptions::new("test")).is_err() {
            after(Duration::from_millis(20)).await;
        }
    };
    timeout(BOUND, is_free).await.expect("the thread closes the directory once the disk answers");
}
