//! Tests of formation: who founds, and that no order of messages makes two founders.

mod histories;
mod over;
mod promises;
mod remembered;
mod waits;

use alloc::boxed::Box;
use alloc::string::String;
use core::time::Duration;

use super::*;
use crate::incarnation::NodeId;
use crate::settings::Settings;
use crate::table::Ancestors;
use crate::version::Version;
use crate::voters::VoterId;

const SECOND: Duration = Duration::from_secs(1);

fn seeking(name: &str, life: u64, seeds: &[&str], flaws: Flaws) -> Seeking {
    let me = Incarnation { address: Address::new(name), uid: Uid::new(life).expect("not 0") };
    let facts = Facts {
        id: NodeId::new(name),
        roles: [].into(),
        app_version: "1".into(),
        zone: "".into(),
        disk: None,
    };
    let seeds: Vec<Address> = seeds.iter().map(|seed| Address::new(*seed)).collect();
    let mut settings = Checked::new(Settings::default()).expect("good");
    settings.flaws = flaws;
    let search = Search { seeds, ..Search::default() };
    let mut seeking = Seeking::new(Timestamp::ZERO, me, Arc::new(facts), search, settings);
    // What is tested here must not depend on it; `it_founds_once_nothing_was_missing_for_as_long_as_it_waits` tests it.
    seeking.wait = Duration::ZERO;
    seeking
}

/// The directory of the node there.
fn directory(address: &str) -> VoterId {
    VoterId::new(u64::from(address.as_bytes()[0])).expect("not 0")
}

fn vow(seed: &str, attempt: u32, granted: bool) -> Vow {
    Vow {
        seed: Address::new(seed),
        voter: directory(seed),
        attempt,
        granted,
        withdrawn: false,
        holder: Address::new("x"),
        past: Past::Fresh,
        pledged: [].into(),
        heard_of: [].into(),
    }
}

/// Those that start, and the list of each.
type Lists = &'static [(&'static str, &'static [&'static str])];

/// A word under way, and to whom.
#[derive(Clone, Debug)]
enum Letter {
    Knock(Arc<Knock>),
    Promise(Uid, Vow),
    Release { from: Uid, attempt: u32 },
    Welcome,
}

/// What became of one that sought.
#[derive(Clone, Debug)]
enum Fate {
    Seeks(Box<Seeking>),
    Founded,
    Joined,
}

/// Some that seek, and everything they ever said: any of it may arrive, late, again or never.
#[derive(Clone, Debug)]
struct Town {
    now: Timestamp,
    names: Vec<String>,
    people: Vec<Fate>,
    letters: Vec<(usize, Letter)>,
}

impl Town {
    /// Each with its own list; lives are numbered from 1.
    fn new(lists: &[(&str, &[&str])], flaws: Flaws) -> Self {
        let seek = |(place, (name, seeds)): (usize, &(&str, &[&str]))| {
            Fate::Seeks(seeking(name, place as u64 + 1, seeds, flaws).into())
        };
        Self {
            now: Timestamp::ZERO,
            names: lists.iter().map(|(name, _)| String::from(*name)).collect(),
            people: lists.iter().enumerate().map(seek).collect(),
            letters: Vec::new(),
        }
    }

    fn uid(place: usize) -> Uid {
        Uid::new(place as u64 + 1).expect("not 0")
    }

    fn post(&mut self, from: usize, say: Vec<Say>) {
        let from = Self::uid(from);
        for said in say {
            let (to, letter) = match said {
                Say::Knock(address, knock) => {
                    let place = self.names.iter().position(|name| name == address.as_str());
                    let Some(place) = place else { continue };
                    (place, Letter::Knock(knock))
                }
                Say::Promise(to, vow) => (place(to), Letter::Promise(from, vow)),
                Say::Release(to, attempt) => (place(to), Letter::Release { from, attempt }),
                Say::Keep(_) => continue,
            };
            self.letters.push((to, letter));
        }
    }

    /// That much time passes for all, and each does what is due, in that order.
    fn pass(&mut self, time: Duration) {
        self.now = self.now + time;
        for place in 0..self.people.len() {
            self.wake(place);
        }
    }

    fn wake(&mut self, place: usize) {
        let mut say = Vec::new();
        if let Fate::Seeks(seeking) = &mut self.people[place]
            && let Outcome::Founds = seeking.on_deadline(self.now, &mut say)
        {
            self.people[place] = Fate::Founded;
        }
        self.post(place, say);
    }

    fn deliver(&mut self, to: usize, letter: &Letter) {
        let (now, mut say) = (self.now, Vec::new());
        match (&mut self.people[to], letter) {
            (Fate::Seeks(seeking), Letter::Knock(knock)) => seeking.knocked(now, knock, &mut say),
            (Fate::Seeks(seeking), Letter::Promise(from, vow)) => {
                if let Outcome::Founds = seeking.promised(now, *from, vow.clone(), &mut say) {
                    self.people[to] = Fate::Founded;
                }
            }
            (Fate::Seeks(seeking), Letter::Release { from, attempt }) => {
                seeking.released(*from, *attempt, &mut say);
            }
            (Fate::Seeks(_), Letter::Welcome) => self.people[to] = Fate::Joined,
            (Fate::Founded | Fate::Joined, Letter::Knock(knock)) => {
                self.letters.push((place(knock.me.uid), Letter::Welcome));
            }
            (Fate::Founded | Fate::Joined, _) => {}
        }
        self.post(to, say);
    }

    /// Everything under way arrives, in order, and what is said then too.
    fn deliver_all(&mut self) {
        while !self.letters.is_empty() {
            let (to, letter) = self.letters.remove(0);
            self.deliver(to, &letter);
        }
    }

    fn founders(&self) -> Vec<&str> {
        let founded = |place: &usize| matches!(self.people[*place], Fate::Founded);
        (0..self.people.len()).filter(founded).map(|place| self.names[place].as_str()).collect()
    }

    fn seekers(&self) -> usize {
        self.people.iter().filter(|fate| matches!(fate, Fate::Seeks(_))).count()
    }
}

fn place(uid: Uid) -> usize {
    usize::try_from(uid.get() - 1).expect("small")
}

/// The lists of those that start, and who founds when everything arrives in order and at once.
type Case = (Lists, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    (&[("a", &[])], "a"),
    (&[("a", &["a"])], "a"),
    (&[("a", &["a", "b"]), ("b", &["a", "b"])], "a"),
    (&[("a", &["b", "a"]), ("b", &["b", "a"])], "a"),
    (&[("a", &["b"]), ("b", &["a"])], "a"),
    (&[("b", &["a"]), ("a", &["b"])], "a"),
    (&[("a", &["a", "b", "c"]), ("b", &["a", "b", "c"]), ("c", &["a", "b", "c"])], "a"),
    (&[("c", &["a", "b", "c"]), ("b", &["a", "b", "c"]), ("a", &["a", "b", "c"])], "a"),
    (&[("a", &["c", "b", "a"]), ("c", &["c", "b", "a"]), ("b", &["c", "b", "a"])], "a"),
    // One that is no seed of the others has a promise that they need: it stands back.
    (&[("d", &["a", "b", "c", "e"]), ("e", &["a", "b", "c"]), ("c", &["a", "b", "c", "e"]), ("b", &["a", "b", "c", "e"]), ("a", &["a", "b", "c", "e"])], "a"),
    (&[("d", &["c", "d", "e"]), ("c", &["c", "d", "e"]), ("e", &["c", "d", "e"])], "c"),
    // Each names the next.
    (&[("a", &["b"]), ("b", &["c"]), ("c", &["a"])], "a"),
    // One that is no seed, and one that is.
    (&[("a", &["b"]), ("b", &["b"])], "b"),
];

#[test]
fn of_those_that_start_at_once_one_founds_and_the_others_join() {
    for (lists, founder) in CASES {
        let mut town = Town::new(lists, Flaws::default());
        for _ in 0..200 {
            town.pass(Duration::from_millis(200));
            town.deliver_all();
            if town.seekers() == 0 {
                break;
            }
        }
        assert_eq!(town.founders(), [*founder], "{lists:?}");
        assert_eq!(town.seekers(), 0, "{lists:?}");
    }
}

#[test]
fn a_node_that_misses_one_of_its_list_founds_nothing() {
    #[rustfmt::skip]
    let cases: &[Lists] = &[
        &[("a", &["a", "b"])],
        &[("a", &["b"])],
        &[("a", &["a", "b", "c"])],
        &[("a", &["a", "b", "c"]), ("b", &["a", "b", "c"])],
        &[("a", &["a", "b", "c", "d", "e"]), ("b", &["a", "b", "c", "d", "e"])],
        // Not one of the seeds itself, so that its list has four.
        &[("x", &["a", "b", "c"]), ("a", &["a", "b", "c"])],
    ];
    for lists in cases {
        let mut town = Town::new(lists, Flaws::default());
        for _ in 0..200 {
            town.pass(Duration::from_millis(200));
            town.deliver_all();
        }
        assert_eq!(town.founders(), [""; 0], "{lists:?}");
    }
}

const LIST: &[&str] = &["a", "b", "c", "d", "e"];

/// `b`, with the list of five.
fn b() -> Seeking {
    let mut b = seeking("b", 2, LIST, Flaws::default());
    b.on_deadline(Timestamp::ZERO, &mut Vec::new());
    b
}

fn knock_of(name: &str, life: u64, attempt: Option<u32>) -> Knock {
    let mut other = seeking(name, life, LIST, Flaws::default());
    other.on_deadline(Timestamp::ZERO, &mut Vec::new());
    Knock { attempt, ..(*other.knock()).clone() }
}

/// What `b` says to a knock.
fn says(b: &mut Seeking, now: Timestamp, knock: &Knock) -> Vec<(u64, bool)> {
    let mut say = Vec::new();
    b.knocked(now, knock, &mut say);
    let promises = say.into_iter().map(|said| match said {
        Say::Promise(uid, vow) => (uid.get(), vow.granted),
        Say::Release(uid, _) => (uid.get() + 100, true),
        Say::Knock(..) | Say::Keep(_) => (0, false),
    });
    promises.collect()
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

#[test]
fn a_promise_to_oneself_yields_to_a_lesser_address_alone() {
    assert_eq!(says(&mut b(), at(10), &knock_of("a", 1, Some(1))), [(1, true)]);
    assert_eq!(says(&mut b(), at(10), &knock_of("c", 3, Some(1))), [(3, false)]);
    let asks_nothing = knock_of("a", 1, None);
    assert_eq!(says(&mut b(), at(10), &asks_nothing), [(1, false)], "who does not ask is promised nothing");
}

#[test]
fn a_promise_to_one_is_denied_to_all_others() {
    let mut c = seeking("c", 3, LIST, Flaws::default());
    c.on_deadline(Timestamp::ZERO, &mut Vec::new());
    assert_eq!(says(&mut c, at(10), &knock_of("b", 2, Some(1))), [(2, true)]);
    assert_eq!(says(&mut c, at(20), &knock_of("a", 1, Some(1))), [(1, false)], "although it is earlier");
    assert_eq!(says(&mut c, at(30), &knock_of("b", 2, Some(1))), [(2, true)], "the same may ask again");
    assert_eq!(says(&mut c, at(30), &knock_of("b", 2, Some(2))), [(2, true)], "for a later attempt too");
    assert_eq!(says(&mut c, at(30), &knock_of("b", 2, Some(1))), [(2, false)], "and not for an older one");
}

#[test]
fn who_has_promised_counts_for_itself_no_more() {
    let mut b = b();
    assert_eq!(says(&mut b, at(10), &knock_of("a", 1, Some(1))), [(1, true)]);
    assert_eq!(b.knock().attempt, None);
    for from in [3, 4, 5] {
        assert!(!founds(&mut b, at(20), from, 1, true));
    }
}

/// Whether that seed's answer makes it found. The lives of `a` to `e` are 1 to 5.
fn founds(seeking: &mut Seeking, now: Timestamp, from: u64, attempt: u32, granted: bool) -> bool {
    let seed = LIST[usize::try_from(from - 1).expect("small")];
    let uid = Uid::new(from).expect("not 0");
    matches!(seeking.promised(now, uid, vow(seed, attempt, granted), &mut Vec::new()), Outcome::Founds)
}

#[test]
fn who_yields_releases_those_that_promised_to_it() {
    let mut b = b();
    assert!(!founds(&mut b, at(10), 3, 1, true));
    assert_eq!(says(&mut b, at(20), &knock_of("a", 1, Some(1))), [(103, true), (1, true)]);
}

#[test]
fn a_promise_that_comes_after_it_yielded_is_released() {
    let mut b = b();
    assert_eq!(says(&mut b, at(20), &knock_of("a", 1, Some(1))), [(1, true)]);
    let (c, mut say) = (Uid::new(3).expect("not 0"), Vec::new());
    b.promised(at(30), c, vow("c", 1, false), &mut say);
    assert!(say.is_empty(), "nothing was promised");
    b.promised(at(30), c, vow("c", 1, true), &mut say);
    assert!(matches!(say[..], [Say::Release(to, 1)] if to == c));
}

#[test]
fn all_of_the_list_make_it_found() {
    let mut b = b();
    for from in [1, 3, 4] {
        assert!(!founds(&mut b, at(100), from, 1, true));
    }
    assert!(founds(&mut b, at(100), 5, 1, true));
}

#[test]
fn more_than_half_of_the_list_make_it_found_if_the_owner_says_so() {
    let mut b = b();
    b.founding.with = FoundWith::Majority;
    assert!(!founds(&mut b, at(10), 3, 1, true));
    assert!(!founds(&mut b, at(99), 4, 1, true), "a and e may be about to say that they are in a cluster");
    assert!(founds(&mut b, at(100), 4, 1, true), "with itself three of five");
}

#[test]
fn a_node_that_never_founds_promises_to_anybody() {
    let mut a = seeking("a", 1, LIST, Flaws::default());
    a.founding.with = FoundWith::Never;
    a.on_deadline(at(0), &mut Vec::new());
    assert_eq!(a.knock().attempt, None);
    for from in 2..=5 {
        assert!(!founds(&mut a, at(10), from, 1, true));
    }
    assert_eq!(says(&mut a, at(20), &knock_of("e", 5, Some(1))), [(5, true)]);
}

/// Lets it ask, and `b` promise whenever it is asked.
fn promised_until(seeking: &mut Seeking, until: Timestamp) -> Outcome {
    let b = Uid::new(2).expect("not 0");
    while seeking.next_deadline() < until {
        let (now, mut say) = (seeking.next_deadline(), Vec::new());
        let outcome = seeking.on_deadline(now, &mut say);
        let is_asked = say.iter().any(|said| matches!(said, Say::Knock(..)));
        let promise = vow("b", seeking.attempt, true);
        if let Outcome::Founds = outcome {
            return Outcome::Founds;
        }
        if is_asked && let Outcome::Founds = seeking.promised(now, b, promise, &mut Vec::new()) {
            return Outcome::Founds;
        }
    }
    seeking.on_deadline(until, &mut Vec::new())
}

fn wake_until(seeking: &mut Seeking, until: Timestamp) -> Outcome {
    while seeking.next_deadline() < until {
        let now = seeking.next_deadline();
        if let Outcome::Founds = seeking.on_deadline(now, &mut Vec::new()) {
            return Outcome::Founds;
        }
    }
    seeking.on_deadline(until, &mut Vec::new())
}

#[test]
fn a_discovered_list_must_be_long_enough_and_stay_the_same() {
    let mut a = seeking("a", 1, &["a"], Flaws::default());
    a.founding.expect = Some(3);
    let found = |a: &mut Seeking, now| matches!(a.on_deadline(now, &mut Vec::new()), Outcome::Founds);
    assert!(!found(&mut a, at(0)) && !found(&mut a, at(60_000)), "it waits for two others");
    a.set_seeds(at(60_000), &["b", "c"].map(Address::new));
    let all_answer = |a: &mut Seeking, now| {
        let found = found(a, now);
        let attempt = a.attempt;
        [2, 3].map(|from| founds(a, now, from, attempt, true)).contains(&true) || found
    };
    for second in 60..65 {
        assert!(!all_answer(&mut a, at(1_000 * second)), "a list that is new may grow");
    }
    assert!(all_answer(&mut a, at(65_000)));
}

#[cfg(feature = "flaws")]
#[test]
fn a_discovered_list_that_is_taken_for_complete_is_noticed() {
    let mut a = seeking("a", 1, &["a"], Flaws::only(Flaw::DiscoveredListIsComplete));
    a.founding.expect = Some(3);
    assert!(matches!(a.on_deadline(at(0), &mut Vec::new()), Outcome::Founds), "it founds alone");
}

/// The cluster whose voters were the first so many of the list, of which life 10 + place is the voter there.
fn memory(voters: u64) -> Arc<Memory> {
    let uid = |place: u64| Uid::new(10 + place).expect("not 0");
    let voter = |place: u64| VoterId::of_life(uid(place));
    let place = |place: u64| (voter(place), Address::new(LIST[usize::try_from(place - 1).expect("small")]));
    let name = crate::node::name_hash(&Settings::default().cluster);
    let version = Version { term: crate::version::Term::new(1), index: voters };
    let now = (1..=voters).map(voter).collect();
    let voters_now = crate::voters::Voters { id: version, now, next: BTreeSet::new() };
    Arc::new(Memory {
        cluster: Cluster { name, era: 7, founder: uid(1) },
        ancestors: Ancestors::default(),
        voters: voters_now,
        places: (1..=voters).map(place).collect(),
        durable: false,
    })
}

fn answers(seeking: &mut Seeking, from: u64, past: Past) {
    let seed = Address::new(LIST[usize::try_from((from - 1) % 10).expect("small")]);
    let granted = !matches!(past, Past::Suspended(..));
    let answer = Vow { holder: seed.clone(), past, ..vow(seed.as_str(), 1, granted) };
    seeking.promised(at(100), Uid::new(from).expect("not 0"), answer, &mut Vec::new());
}

fn awaited(seeking: &Seeking) -> Vec<(String, Missing)> {
    let text = |awaited: Awaited| (String::from(awaited.address.as_str()), awaited.why);
    seeking.awaited().into_iter().map(text).collect()
}

/// What the other one says to this one's knock.
fn vow_to(other: &mut Seeking, one: &Seeking) -> Vow {
    let mut say = Vec::new();
    other.knocked(at(100), &one.knock(), &mut say);
    let vow = say.into_iter().find_map(|said| match said {
        Say::Promise(_, vow) => Some(vow),
        Say::Release(..) | Say::Knock(..) | Say::Keep(_) => None,
    });
    vow.expect("it answers")
}

#[test]
fn two_lives_of_one_seed_are_one_voice() {
    let mut a = seeking("a", 1, &["a", "c", "d"], Flaws::default());
    a.on_deadline(at(0), &mut Vec::new());
    for life in [3, 13, 23] {
        let vow = vow("c", 1, true);
        let outcome = a.promised(at(10), Uid::new(life).expect("not 0"), vow, &mut Vec::new());
        assert!(matches!(outcome, Outcome::Seeking), "only a and c can talk to each other");
    }
}

#[test]
fn who_is_no_seed_has_no_voice() {
    let mut a = seeking("a", 1, &["a", "b"], Flaws::default());
    a.on_deadline(at(0), &mut Vec::new());
    assert!(!founds(&mut a, at(10), 3, 1, true), "c is not on the list");
    assert!(founds(&mut a, at(10), 2, 1, true));
}

/// A discovery that fails has named nobody that must be asked.
#[test]
fn without_a_list_nothing_is_founded() {
    let mut a = seeking("a", 1, &[], Flaws::default());
    a.is_unlisted = true;
    assert!(matches!(wake_until(&mut a, at(20_000)), Outcome::Seeking));
    assert_eq!(says(&mut a, at(20_000), &knock_of("e", 5, Some(1))), [(5, true)]);
    a.released(Uid::new(5).expect("not 0"), 1, &mut Vec::new());
    a.set_seeds(at(20_010), &[Address::new("a")]);
    assert!(matches!(wake_until(&mut a, at(40_000)), Outcome::Founds));
}

#[test]
fn nothing_is_founded_beside_a_durable_cluster_that_somebody_remembers() {
    let mut a = seeking("a", 1, &["a", "b"], Flaws::default());
    a.on_deadline(at(0), &mut Vec::new());
    let of_disks = |memory: &Memory| Arc::new(Memory { durable: true, ..memory.clone() });
    let past = Past::Left(of_disks(&memory(1)));
    let b = Uid::new(2).expect("not 0");
    let outcome = a.promised(at(10), b, Vow { past, ..vow("b", 1, true) }, &mut Vec::new());
    assert!(matches!(outcome, Outcome::Seeking), "its voters answer, and nobody knows where their disks are");
    assert_eq!(awaited(&a), [("a".into(), Missing::VoteLost)]);
    let past = Past::Ended(of_disks(&memory(1)));
    let outcome = a.promised(at(20), b, Vow { past, ..vow("b", 1, true) }, &mut Vec::new());
    assert!(matches!(outcome, Outcome::Founds), "it has ended");
}

#[test]
fn promises_count_for_the_attempt_they_were_asked_for_while_it_lasts() {
    let three = &["b", "d", "e"];
    let mut b = seeking("b", 2, three, Flaws::default());
    b.on_deadline(at(0), &mut Vec::new());
    assert!(!founds(&mut b, at(10), 5, 1, true));
    assert!(!founds(&mut b, at(10), 5, 1, true), "one and the same");
    assert!(!founds(&mut b, at(10), 4, 1, false), "a no");
    assert!(!founds(&mut b, at(10), 4, 2, true), "of another attempt");
    assert!(!founds(&mut b, at(5_000), 4, 1, true), "too late");
    b.on_deadline(at(5_000), &mut Vec::new());
    assert_eq!(b.knock().attempt, Some(2));
    assert!(!founds(&mut b, at(5_010), 4, 2, true), "what came before is void");
    assert!(founds(&mut b, at(5_010), 5, 2, true));
}

#[test]
fn it_asks_every_seed_but_itself_again_and_again() {
    let mut b = seeking("b", 2, &["a", "b", "a", "c"], Flaws::default());
    let asked = |b: &mut Seeking, now| {
        let mut say = Vec::new();
        b.on_deadline(now, &mut say);
        let whom = |said: &Say| match said {
            Say::Knock(address, _) => String::from(address.as_str()),
            Say::Promise(..) | Say::Release(..) | Say::Keep(_) => String::new(),
        };
        say.iter().map(whom).collect::<Vec<String>>()
    };
    assert_eq!(asked(&mut b, at(0)), ["a", "c"]);
    assert!(asked(&mut b, at(199)).is_empty());
    assert_eq!(asked(&mut b, at(200)), ["a", "c"]);
    assert_eq!(b.next_deadline(), at(400));
}

#[test]
fn a_seed_with_other_settings_is_promised_nothing_and_named() {
    let mut b = b();
    let mut other = knock_of("a", 1, Some(1));
    let settings = Settings { max_voters: 3, ..Settings::default() };
    other.settings = Checked::new(settings).expect("good").cluster_settings().clone();
    let mut say = Vec::new();
    b.knocked(at(10), &other, &mut say);
    assert!(say.is_empty(), "{say:?}");
    let differs = |awaited: &Awaited| matches!(&awaited.why, Missing::OtherSettings(refusal) if refusal.setting == "max_voters");
    assert!(b.awaited().iter().any(differs), "{:?}", b.awaited());
    assert!(b.knock().attempt.is_some(), "it promised nothing");
}

#[test]
fn a_late_promise_for_an_earlier_attempt_is_given_back() {
    let all = ["a:1", "b:1", "c:1", "d:1"];
    let mut c = seeking("c:1", 3, &all, Flaws::default());
    let (a, b) = (seeking("a:1", 1, &all, Flaws::default()), seeking("b:1", 2, &all, Flaws::default()));
    let knock = |mut other: Seeking| {
        other.on_deadline(Timestamp::ZERO, &mut Vec::new());
        other.knock()
    };
    let mut say = Vec::new();
    c.on_deadline(Timestamp::ZERO, &mut say);
    c.knocked(Timestamp::ZERO, &knock(b), &mut say);
    c.released(Uid::new(2).unwrap(), 1, &mut Vec::new());
    say.clear();
    c.promised(Timestamp::ZERO, Uid::new(4).unwrap(), vow("d:1", 1, true), &mut say);
    c.knocked(Timestamp::ZERO, &knock(a), &mut say);
    assert!(say.iter().any(|said| matches!(said, Say::Release(uid, 1) if uid.get() == 4)), "{say:?}");
}
