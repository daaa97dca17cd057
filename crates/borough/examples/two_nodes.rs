//! Two terminals, one cluster.
//!
//! ```sh
//! cargo run --example two_nodes -- 25520          # the first node: nobody to look for, it founds the cluster
//! cargo run --example two_nodes -- 25521 25520    # the second looks for the first
//! ```
//!
//! Each prints who is there, whenever that changes. Ctrl-C leaves the cluster in order; `kill -9` does not, and the other notices by itself.

use borough::prelude::*;

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let mut ports = std::env::args().skip(1);
    let own = ports.next().unwrap_or_else(|| "25520".to_owned());
    let node = Node::builder("two-nodes")
        .listen(format!("127.0.0.1:{own}"))
        .seeds(ports.map(|port| format!("127.0.0.1:{port}")))
        .start()
        .await?;

    let mut topology = node.topology();
    let told = tokio::spawn(async move {
        let mut before = String::new();
        while let Ok(now) = topology.changed().await {
            let up: Vec<_> = now.up().map(|member| member.node_id().as_str()).collect();
            let line = format!("{}, up: {}", now.standing, up.join(" "));
            if line != before {
                println!("{line}");
                before = line;
            }
        }
    });

    node.run_until_signal().await?;
    told.await?;
    Ok(())
}
