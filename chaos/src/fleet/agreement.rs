//! Whether the nodes of a fleet agree, and whether anything happened to them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::{ANSWER_BOUND, Fleet, name};
use crate::words::View;

/// How many members vote at most, by default.
const MAX_VOTERS: usize = 5;

impl Fleet {
    /// Waits until all processes are members of one cluster with nobody else in it, and agree on its members, voters,
    /// coordinator and table: how long that took.
    pub(crate) fn settled(&mut self, bound: Duration) -> Result<Duration, String> {
        self.settled_at(&self.places(), bound)
    }

    /// Waits until all processes are members of one cluster, and each sees all of them up. Which of them vote may still change.
    pub(crate) fn all_up(&self, bound: Duration) -> Result<(), String> {
        self.all_up_at(&self.places(), bound)
    }

    /// As [`all_up`](Self::all_up), for those at these places alone: nobody else is up in their cluster, though others may wish to join it.
    pub(crate) fn all_up_at(&self, places: &[usize], bound: Duration) -> Result<(), String> {
        let starts: Vec<_> =
            places.iter().map(|place| Ok(self.process(*place)?.start)).collect::<Result<_, String>>()?;
        self.room.wait(bound, |heard| {
            let views: Option<Vec<_>> = starts.iter().map(|start| heard.get(start)?.view()).collect();
            are_up(&views.ok_or("one has said nothing")?)
        })
    }

    /// As [`settled`](Self::settled), for those at these places alone: nobody else is in their cluster.
    pub(crate) fn settled_at(&mut self, places: &[usize], bound: Duration) -> Result<Duration, String> {
        let began = Instant::now();
        let mut starts = Vec::new();
        for &place in places {
            starts.push((name(place), self.process(place)?.start));
        }
        let waited = self.room.wait(bound, |heard| {
            let mut views = Vec::new();
            for (name, start) in &starts {
                let of_it = heard.get(start).ok_or("one was never started")?;
                if of_it.is_over {
                    return Ok(Err(format!("the process {name} has ended")));
                }
                views.push((name.as_str(), of_it.view().ok_or_else(|| format!("{name} has said nothing"))?));
            }
            agree(&views).map(Ok)
        });
        waited.and_then(|ended| ended).map_err(|why| format!("no agreement {why}"))?;
        let took = began.elapsed();
        self.note_beginnings(places)?;
        Ok(took)
    }

    /// Waits until a life is listed nowhere among these places any more: how long after the given moment.
    pub(crate) fn removed(
        &self,
        uid: u64,
        places: &[usize],
        since: Instant,
        bound: Duration,
    ) -> Result<Duration, String> {
        let mut last = since;
        for &place in places {
            let seen = self.hear(place, bound, |heard| {
                let (when, view) = heard.views.last().ok_or("it has said nothing")?;
                if !view.up().contains(&uid) {
                    // The first view without it after the last with it.
                    let with_it = heard.views.iter().rposition(|(_, view)| view.up().contains(&uid));
                    let first = with_it.and_then(|place| heard.views.get(place + 1));
                    return Ok(first.map_or(*when, |(when, _)| *when));
                }
                Err(format!("{uid} is still up"))
            })?;
            last = last.max(seen);
        }
        Ok(last - since)
    }

    /// That nobody at these places saw anybody come, go or change since, nor was anything but a member itself.
    pub(crate) fn undisturbed(&self, places: &[usize], since: Instant) -> Result<(), String> {
        for &place in places {
            self.hear(place, ANSWER_BOUND, |heard| {
                let first = heard.views.iter().rposition(|(when, _)| *when <= since).unwrap_or(0);
                let Some((_, before)) = heard.views.get(first) else {
                    return Err("it has said nothing".to_owned());
                };
                for (when, view) in &heard.views[first..] {
                    let after = when.saturating_duration_since(since);
                    if view.standing != "member" || view.uid != before.uid {
                        return Err(format!("after {after:?} it was {} as {}", view.standing, view.uid));
                    }
                    if view.up() != before.up() {
                        return Err(format!("after {after:?} it saw {:?} up", who(view, &view.up())));
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Every cluster that any process has been a member of since.
    pub(crate) fn worked_in(&self, since: Instant) -> Result<BTreeSet<String>, String> {
        self.room.wait(ANSWER_BOUND, |heard| {
            let views = heard.values().flat_map(|of_it| &of_it.views);
            let members = views.filter(|(when, view)| *when > since && view.standing == "member");
            Ok(members.filter_map(|(_, view)| view.cluster.clone()).collect())
        })
    }

    /// Where the members are, the oldest first, as the first process sees them.
    pub(crate) fn by_age(&mut self) -> Result<Vec<usize>, String> {
        let first = *self.places().first().ok_or("there is nobody")?;
        let members = self.status(first)?.view.members;
        let mut places = Vec::new();
        for place in self.places() {
            places.push((self.uid(place)?, place));
        }
        let place = |uid| places.iter().find(|(of_it, _)| *of_it == uid).map(|(_, place)| *place);
        Ok(members.iter().filter_map(|member| place(member.uid)).collect())
    }

    /// That each at these places has been the same member since, whoever else came or went.
    pub(crate) fn undisturbed_lives(&self, places: &[usize], since: Instant) -> Result<(), String> {
        for &place in places {
            self.hear(place, ANSWER_BOUND, |heard| {
                let first = heard.views.iter().rposition(|(when, _)| *when <= since).unwrap_or(0);
                let uid = heard.views.get(first).ok_or("it has said nothing")?.1.uid;
                let other = heard.views[first..]
                    .iter()
                    .find(|(_, view)| view.uid != uid || view.standing != "member");
                other.map_or(Ok(()), |(_, view)| Err(format!("it was {} as {}", view.standing, view.uid)))
            })?;
        }
        Ok(())
    }
}

fn are_up(views: &[&View]) -> Result<(), String> {
    let lives: BTreeSet<u64> = views.iter().map(|view| view.uid).collect();
    let is_in =
        |view: &&&View| view.standing == "member" && view.up() == lives && view.cluster == views[0].cluster;
    let members = views.iter().filter(is_in).count();
    if members == views.len() { Ok(()) } else { Err(format!("{members} of {} see all up", views.len())) }
}

fn agree(views: &[(&str, &View)]) -> Result<(), String> {
    let lives: BTreeSet<u64> = views.iter().map(|(_, view)| view.uid).collect();
    let (first, common) = views.first().ok_or("there are no nodes")?;
    let votes = match lives.len().min(MAX_VOTERS) {
        even if even.is_multiple_of(2) => even - 1,
        odd => odd,
    };
    let coordinator = views.iter().find_map(|(_, view)| view.coordinator);
    for (name, view) in views {
        if view.standing != "member" {
            return Err(format!("{name} is {}", view.standing));
        }
        if view.up() != lives || view.listed() != lives {
            let seen: Vec<_> = view
                .members
                .iter()
                .map(|seen| format!("{} {} {}", seen.node, seen.uid, seen.state))
                .collect();
            return Err(format!("{name} sees [{}] and there are {lives:?}", seen.join(", ")));
        }
        if let Some(unreachable) = view.members.iter().find(|seen| !seen.reachable) {
            return Err(format!("{name} sees {} as unreachable", unreachable.node));
        }
        if view.is_joint || view.voters.len() != votes || !view.voters.is_subset(&lives) {
            return Err(format!("{name} sees the voters {:?} of {lives:?}", view.voters));
        }
        if view.cluster != common.cluster || view.voters != common.voters || view.version != common.version {
            let of = |view: &View| format!("{:?} {} {:?}", view.cluster, view.version, view.voters);
            return Err(format!("{name} sees {} and {first} {}", of(view), of(common)));
        }
        let must_know = view.voters.contains(&view.uid);
        if (view.coordinator.is_none() && must_know)
            || view.coordinator.is_some_and(|it| Some(it) != coordinator)
        {
            return Err(format!(
                "{name} sees the coordinator {:?}, others {coordinator:?}",
                view.coordinator
            ));
        }
    }
    if coordinator.is_none_or(|it| !lives.contains(&it)) {
        return Err(format!("the coordinator {coordinator:?} is not there"));
    }
    Ok(())
}

/// Names for lives, as a node knows them.
fn who(view: &View, lives: &BTreeSet<u64>) -> Vec<String> {
    let of_them = view.members.iter().filter(|seen| lives.contains(&seen.uid));
    of_them.map(|seen| format!("{}:{}", seen.node, seen.uid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Seen;

    /// What one of three that agree sees.
    fn view(uid: u64) -> View {
        let seen = |uid| Seen { node: format!("n{uid}"), uid, state: "Up".to_owned(), reachable: true };
        View {
            uid,
            standing: "member".to_owned(),
            cluster: Some("c".to_owned()),
            coordinator: Some(1),
            version: "t1.9".to_owned(),
            voters: [1, 2, 3].into(),
            is_joint: false,
            tolerates: 1,
            members: [1, 2, 3].map(seen).into(),
        }
    }

    fn verdict(change: impl FnOnce(&mut View)) -> Result<(), String> {
        let (first, second, mut third) = (view(1), view(2), view(3));
        change(&mut third);
        agree(&[("n1", &first), ("n2", &second), ("n3", &third)])
    }

    #[test]
    fn three_that_see_the_same_agree() {
        assert_eq!(verdict(|_| {}), Ok(()));
    }

    #[test]
    fn all_are_up_once_each_is_a_member_that_sees_each_whoever_votes() {
        let verdict = |change: fn(&mut View)| {
            let mut third = view(3);
            change(&mut third);
            are_up(&[&view(1), &view(2), &third])
        };
        assert_eq!(verdict(|view| view.voters = [1].into()), Ok(()));
        assert!(verdict(|view| view.standing = "joining".to_owned()).is_err());
        assert!(verdict(|view| view.members[0].state = "Joining".to_owned()).is_err());
        assert!(verdict(|view| view.cluster = Some("another".to_owned())).is_err());
    }

    #[test]
    fn whatever_one_sees_otherwise_is_noticed() {
        let changes: [fn(&mut View); 10] = [
            |view| view.standing = "suspended".to_owned(),
            |view| view.cluster = Some("another".to_owned()),
            |view| view.coordinator = Some(2),
            |view| view.coordinator = None,
            |view| view.version = "t1.8".to_owned(),
            |view| view.is_joint = true,
            |view| view.voters = [2, 3].into(),
            |view| drop(view.members.pop()),
            |view| view.members[0].state = "Down".to_owned(),
            |view| view.members[0].reachable = false,
        ];
        for (place, change) in changes.into_iter().enumerate() {
            assert!(verdict(change).is_err(), "change {place}");
        }
    }

    #[test]
    fn one_who_does_not_vote_need_not_know_the_coordinator() {
        let mut views: Vec<_> = (1..=4).map(view).collect();
        let fourth = Seen { node: "n4".to_owned(), uid: 4, state: "Up".to_owned(), reachable: true };
        for view in &mut views {
            view.members.push(fourth.clone());
        }
        views[3].coordinator = None;
        let named: Vec<_> = views.iter().map(|view| ("n", view)).collect();
        assert_eq!(agree(&named), Ok(()));
    }
}
