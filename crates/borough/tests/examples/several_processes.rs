//! Examples with a process for each node.

use crate::program::output;

#[test]
fn a_cluster_of_three_processes_talks_loses_one_and_leaves_in_order() {
    let printed = output("cluster");
    let mut lines = printed.lines();
    let mut says = |name: &str, words: &[&str]| {
        let found = lines.find(|line| line.contains(name) && words.iter().all(|word| line.contains(word)));
        found.unwrap_or_else(|| panic!("{name} does not say {words:?}, or not in this order:\n{printed}"))
    };
    says("uptown", &["told", "/office three letters; it has 3"]);
    says("uptown", &["asked", "which had", "answer: it has 0"]);
    says("uptown", &["asked all:", "has"]);
    says("uptown", &["asked all:", "has"]);
    says("uptown", &["asked all:", "has"]);
    says("uptown", &["1000 sensors, 1000 readings"]);
    let mut hosted = 0;
    for _ in 0..3 {
        hosted += number(says("uptown", &["hosts", "sensors"]), "hosts ");
    }
    assert_eq!(hosted, 1000, "{printed}");
    says("uptown", &["the cluster can lose 1 of its 3 voters"]);
    says("", &["kill -9 downtown"]);
    says("uptown", &["/office is gone: Some(NodeLost)"]);
    says("uptown", &["told it a letter: the actor's node is lost"]);
    let anew = number(says("uptown", &["all 1000 sensors answer again", "began anew"]), "again, ");
    assert!((1..1000).contains(&anew), "{printed}");
    says("uptown", &["ready for midtown to leave", &format!("{} readings", 2000 - anew)]);
    // Midtown and uptown each say their part, in either order.
    assert!(printed.contains(&format!("midtown has left: {} readings, as before", 2000 - anew)), "{printed}");
    assert_eq!(printed.matches("left, up:").count(), 2, "{printed}");
}

/// The number behind those words.
fn number(line: &str, words: &str) -> u64 {
    let rest = line.split_once(words).unwrap().1;
    rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

#[cfg(unix)]
mod two_terminals {
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicU16, Ordering};

    use crate::program::Program;

    /// How many ports were looked at.
    static LOOKED_AT: AtomicU16 = AtomicU16::new(0);

    /// Ports of this machine that nobody uses at the moment, each given once. They are below those from which the system draws the ports of connections:
    /// such a one could be taken before its node listens there, or while it is started again.
    fn ports<const N: usize>() -> [String; N] {
        let first = 20_000 + u16::try_from(std::process::id() % 1_000).unwrap() * 10;
        [(); N].map(|()| {
            let mut ports = (0..).map(|_: u32| first + LOOKED_AT.fetch_add(1, Ordering::Relaxed));
            ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap().to_string()
        })
    }

    fn node(own: &str, seeds: &[&str]) -> Program {
        Program::start("two_terminals", &[&[own], seeds].concat())
    }

    fn up(ports: &[&str]) -> String {
        let addresses: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("member, up: {};", addresses.join(" "))
    }

    #[test]
    fn two_nodes_talk_to_each_other_and_leave_in_order_when_they_are_told_to() {
        let [first_port, second_port] = &ports();
        let mut first = node(first_port, &[]);
        first.prints(&up(&[first_port]));
        let mut second = node(second_port, &[first_port]);
        first.prints(&format!("127.0.0.1:{second_port} signs the guest book"));
        second.prints(&format!("the guest book of 127.0.0.1:{first_port} says: 127.0.0.1:{second_port}"));
        second.interrupt();
        second.prints("left, up: ");
        first.prints(&up(&[first_port]));
        first.interrupt();
        first.prints("left, up: ");
        second.ends();
        first.ends();
    }

    /// As the README has it: the first has no seeds, the second names the first.
    #[test]
    fn both_nodes_are_restarted_one_after_the_other_and_stay_in_one_cluster() {
        let [first_port, second_port] = &ports();
        let mut first = node(first_port, &[]);
        let founding = first.prints("cluster ");
        first.prints(&up(&[first_port]));
        let mut second = node(second_port, &[first_port]);
        let both = up(&[first_port, second_port]);
        first.prints(&both);
        second.has_printed(&both);

        first.interrupt();
        first.prints("left, up: ");
        let of_first = first.ends();
        second.prints(&up(&[second_port]));
        let mut first = node(first_port, &[]);
        let both = up(&[second_port, first_port]);
        second.prints(&both);
        first.prints(&both);

        second.interrupt();
        second.prints("left, up: ");
        let of_second = second.ends();
        first.prints(&up(&[first_port]));
        let mut second = node(second_port, &[first_port]);
        let both = up(&[first_port, second_port]);
        first.prints(&both);
        second.has_printed(&both);

        second.interrupt();
        first.prints(&up(&[first_port]));
        first.interrupt();
        for printed in [of_first, of_second, first.ends(), second.ends()] {
            let foundings: Vec<_> = printed.lines().filter(|line| line.starts_with("cluster ")).collect();
            assert_eq!(foundings, [&founding], "{printed}");
        }
    }

    #[test]
    fn of_two_nodes_the_first_goes_on_without_the_second_and_the_second_says_why_it_does_not() {
        let [first_port, second_port] = &ports();
        let mut first = node(first_port, &[]);
        let mut second = node(second_port, &[first_port]);
        first.prints(&up(&[first_port, second_port]));
        second.prints("the guest book of");
        second.kill();
        first.prints(&up(&[first_port]));

        let mut second = node(second_port, &[first_port]);
        first.prints(&up(&[first_port, second_port]));
        second.prints("the guest book of");
        // It sees itself up a moment before it has a lease, and only then is there something to suspend.
        second.has_printed(&up(&[first_port, second_port]));
        first.kill();
        second.prints("suspended, up: ");
        second.prints(&format!("  why: too few voters hear me; I need 1 of 127.0.0.1:{first_port}."));
        second.prints("  what helps: start them again. And three nodes in place of two");
        second.prints("  A store that both reach would help, too");

        let mut first = node(first_port, &[]);
        first.prints(&up(&[first_port, second_port]));
        second.prints(&up(&[first_port, second_port]));
    }

    #[test]
    fn of_three_nodes_two_go_on_without_the_first() {
        let [first_port, second_port, third_port] = &ports();
        let mut first = node(first_port, &[]);
        first.prints(&up(&[first_port]));
        let mut second = node(second_port, &[first_port]);
        second.prints("the guest book of");
        let mut third = node(third_port, &[first_port, second_port]);
        third.prints("the guest book of");
        // Only once all three vote may one be lost.
        let all = [first_port, second_port, third_port].map(String::as_str);
        third.has_printed(&format!("{} may lose 1", up(&all)));
        second.has_printed(&format!("{} may lose 1", up(&all)));
        first.kill();
        third.prints(&up(&all[1..]));
        second.prints(&up(&all[1..]));
    }
}
