//! The table of all settings. Nothing else lists them.

use std::time::Duration;

use borough_wire::limits::{FRAME_MAX_RANGE, MESSAGE_MAX_MOST};

use super::SettingKind as Is;
use super::datum::{
    CODEC_NAMES, DETECTOR_NAMES, Datum, FOUND_WITH_NAMES, HASHING_NAMES, POLICY_NAMES, allocation, strategy,
};
use super::setting::{Field, Setting};

/// A setting and the field of the options that has its value.
macro_rules! setting {
    ($field:ident, $key:literal, $kind:expr, $($place:ident).+, $help:literal $(,)?) => {
        Setting {
            key: $key,
            kind: $kind,
            help: $help,
            field: Field::$field {
                put: |options, value| Datum::put(&mut options.$($place).+, value),
                show: |options| Datum::show(&options.$($place).+),
            },
        }
    };
}

const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);
const TIME: Is = Is::Time { least: SHORTEST, most: LONGEST };
const SLOWEST: Is = Is::Time { least: SHORTEST, most: Duration::from_secs(10 * 60) };
const COUNT: Is = Is::Number { least: 1, most: u64::MAX };
const SIZE: Is = Is::Size { least: 1, most: u64::MAX };

const fn count(least: u64, most: u64) -> Is {
    Is::Number { least, most }
}

/// What a node is set to.
pub(super) static NODE: &[Setting] = &[
    setting!(
        OfNode,
        "node.listen",
        Is::Listen,
        listen,
        "Where the node listens. Elsewhere than on loopback it needs `security.tls_*`, a secret, or `security.insecure`."
    ),
    setting!(
        OfNode,
        "node.advertise",
        Is::Address,
        advertise,
        "Where others reach the node, if not where it listens: needed for `0.0.0.0`, or behind a translation of addresses."
    ),
    setting!(
        OfNode,
        "node.seeds",
        Is::Addresses,
        seeds,
        "Where the node looks for others: the same list on all nodes, themselves included. A node founds a cluster once all of them answer that they are in none."
    ),
    setting!(
        OfNode,
        "node.seeds_dns",
        Is::Address,
        seeds_dns,
        "A name and a port: all addresses of that name are seeds, in place of `node.seeds`."
    ),
    setting!(
        OfNode,
        "node.seeds_file",
        Is::File,
        seeds_file,
        "A file of seeds, one address a line, read anew each time, in place of `node.seeds`."
    ),
    setting!(
        OfNode,
        "node.found_with",
        Is::Choice(&FOUND_WITH_NAMES),
        found_with,
        "How many of the seeds must answer that they are in no cluster before the node founds one: all of them, a majority (two parts that cannot reach each other may then run at the same time), or never."
    ),
    setting!(
        OfNode,
        "node.expect",
        COUNT,
        expect,
        "How many nodes there must be before one founds a cluster. Needed where the seeds are discovered (`node.seeds_dns`): such a list may show only a part of them."
    ),
    setting!(
        OfNode,
        "node.found_alone",
        Is::Switch,
        found_alone,
        "Whether a node without seeds that listens beyond loopback founds a cluster by itself."
    ),
    setting!(
        OfNode,
        "node.data_dir",
        Is::File,
        data_dir,
        "The directory in which the node keeps its identity, its vote and the log of decisions: with it a cluster survives any restart of its nodes. All nodes of a \
         cluster have one, or none. Beyond loopback this or `node.volatile` must be set."
    ),
    setting!(
        OfNode,
        "node.volatile",
        Is::Switch,
        volatile,
        "Whether the cluster may end with its processes: nothing is kept on disk."
    ),
    setting!(
        OfNode,
        "node.id",
        Is::Text,
        id,
        "What people call the node; its own, or it is found by neither. Unset, it is the address it advertises."
    ),
    setting!(OfNode, "node.roles", Is::Texts, roles, "What the node may be used for."),
    setting!(
        OfNode,
        "node.app_version",
        Is::Text,
        app_version,
        "The version of the program. While versions are mixed, new shards go to the newest."
    ),
    setting!(OfNode, "node.zone", Is::Text, zone, "The zone or data center the node stands in."),
    setting!(
        OfNode,
        "node.rejoin",
        Is::Switch,
        rejoin,
        "Whether the node comes back by itself after its cluster had to go on without it."
    ),
    setting!(
        OfNode,
        "node.wedged_after",
        Is::Time { least: Duration::from_secs(15), most: LONGEST },
        wedged_after,
        "A node whose worker has not answered for so long, because a handler blocks it, gives up its lease, so that its entities begin elsewhere although that handler may still run. At most one node in 5 minutes does, as each judges by its own copy of the table: two whose turn comes within the same few seconds can both go. Unset, it keeps them."
    ),
    setting!(
        OfNode,
        "node.ask_timeout",
        TIME,
        ask_timeout,
        "How long an ask waits for its answer unless it says otherwise itself."
    ),
    setting!(
        OfNode,
        "node.leave_timeout",
        TIME,
        leave_timeout,
        "How long a shutdown waits for the node to leave before it goes on without."
    ),
    setting!(
        OfNode,
        "node.drop_after",
        TIME,
        drop_after,
        "How long entities that are to move off the node may take, when it leaves or drains or a type shuts down there. After that, turns that keep them are ended by force, and what has not moved 10 s later is dropped, logged and returned as an error. Unset, nothing is dropped."
    ),
    setting!(
        OfNode,
        "node.codec",
        Is::Choice(&CODEC_NAMES),
        codec,
        "How messages to actors on other nodes are encoded, and those to entities whose type has no `sharding.codec`. Those other than postcard must be built in on all nodes."
    ),
    setting!(
        OfNode,
        "cluster.strategy",
        Is::Form {
            forms: "keep-majority, static-quorum(N), keep-oldest or down-all",
            is_one: |text| strategy(text).is_some()
        },
        cluster.strategy,
        "Which side of a split lives. The same on all nodes."
    ),
    setting!(
        OfNode,
        "cluster.max_pause",
        TIME,
        cluster.max_pause,
        "The longest freeze that a healthy node may show; leases follow from it. Raised, slower nodes keep their leases and every fail-over takes longer. The same on all nodes."
    ),
    setting!(
        OfNode,
        "cluster.round_trip",
        TIME,
        cluster.round_trip,
        "What a message and its answer may take between healthy nodes. Raised, slower networks are borne and every fail-over takes longer. The same on all nodes."
    ),
    setting!(
        OfNode,
        "cluster.drift_per_mille",
        count(0, 499),
        cluster.drift_per_mille,
        "How far the rate of a clock may be off, in thousandths. Raised, worse clocks are safe and a lost owner is replaced later. The same on all nodes."
    ),
    setting!(
        OfNode,
        "cluster.failover_target",
        TIME,
        cluster.failover_target,
        "The longest fail-over that is acceptable. It changes no timing: settings whose fail-over would take longer are refused."
    ),
    setting!(
        OfNode,
        "cluster.max_voters",
        COUNT,
        cluster.max_voters,
        "How many members vote at most, an odd number. Raised, more losses at once are survived and each decision needs more answers. The same on all nodes."
    ),
    setting!(
        OfNode,
        "cluster.minimum_members",
        COUNT,
        cluster.minimum_members,
        "How many nodes must be there before the first is admitted."
    ),
    setting!(
        OfNode,
        "cluster.minimum_per_role",
        Is::Counts,
        cluster.minimum_per_role,
        "How many nodes of a role must be there before the first node is admitted."
    ),
    setting!(
        OfNode,
        "cluster.gossip_interval",
        TIME,
        cluster.gossip_interval,
        "How often a node gossips while nothing is new. Lowered, views agree sooner and more is sent."
    ),
    setting!(
        OfNode,
        "cluster.heartbeat_interval",
        SLOWEST,
        cluster.heartbeat_interval,
        "How often a node sends heartbeats to each peer that it monitors. Lowered, silence is noticed sooner and more is sent."
    ),
    setting!(
        OfNode,
        "cluster.monitors",
        count(1, 32),
        cluster.monitors,
        "How many peers a node monitors. Raised, the loss of several monitors at once is less likely to leave a peer unwatched, and more is sent."
    ),
    setting!(
        OfNode,
        "cluster.detector",
        Is::Choice(&DETECTOR_NAMES),
        cluster.detector,
        "Which failure detector judges silence: one that learns the rhythm of each peer, or one that knows one bound."
    ),
    setting!(
        OfNode,
        "cluster.phi_threshold_tenths",
        count(10, 160),
        cluster.phi_threshold_tenths,
        "The phi at which a peer is accused, in tenths. Raised, fewer mistakes and later accusations."
    ),
    setting!(
        OfNode,
        "cluster.phi_window",
        count(2, 10_000),
        cluster.phi_window,
        "How many intervals between heartbeats the phi detector remembers. Raised, it follows a changed rhythm later."
    ),
    setting!(
        OfNode,
        "cluster.phi_min_deviation",
        TIME,
        cluster.phi_min_deviation,
        "The least standard deviation that the phi detector assumes. Raised, a very regular peer is accused later when it falters."
    ),
    setting!(
        OfNode,
        "cluster.acceptable_pause",
        SLOWEST,
        cluster.acceptable_pause,
        "Silence on top of the usual rhythm that is no reason to accuse. Raised, fewer mistakes and later accusations."
    ),
    setting!(
        OfNode,
        "cluster.tombstone_life",
        TIME,
        cluster.tombstone_life,
        "How long the gossip remembers who was removed. Lowered, documents are smaller, and a view that was cut off for longer could bring the dead back."
    ),
    setting!(
        OfNode,
        "cluster.seed_timeout",
        TIME,
        cluster.seed_timeout,
        "When an attempt to find a cluster through the seeds ends and the next begins."
    ),
    setting!(
        OfNode,
        "cluster.seed_ask_interval",
        TIME,
        cluster.seed_ask_interval,
        "How often the seeds are asked within an attempt. Lowered, clusters form sooner and more is sent."
    ),
    setting!(
        OfNode,
        "cluster.linger",
        TIME,
        cluster.linger,
        "How long a removed voter goes on answering the log at most. Lowered, leaving ends sooner in the worst case, and a change of voters may miss its answer."
    ),
    setting!(
        OfNode,
        "cluster.voters_settle",
        TIME,
        cluster.voters_settle,
        "How long two more members must have been available before they become voters. Lowered, the list grows sooner and changes more often."
    ),
    setting!(
        OfNode,
        "cluster.log_kept",
        count(4, 1_000_000),
        cluster.log_kept,
        "How many decisions are kept one by one before the table stands for them. Raised, it costs memory and sends less to those who were away for a while."
    ),
    setting!(
        OfNode,
        "limits.frame_max",
        Is::Size { least: *FRAME_MAX_RANGE.start() as u64, most: *FRAME_MAX_RANGE.end() as u64 },
        limits.frame_max,
        "The largest frame taken. Raised, large messages are cheaper and hold up the lane for longer."
    ),
    setting!(
        OfNode,
        "limits.message_max",
        Is::Size { least: *FRAME_MAX_RANGE.start() as u64, most: MESSAGE_MAX_MOST as u64 },
        limits.message_max,
        "The largest message taken, at least `limits.frame_max`. Raised, each lane of a peer may make the node hold more."
    ),
    setting!(
        OfNode,
        "limits.queue_messages",
        COUNT,
        limits.queue_messages,
        "How many messages wait for a lane. Raised, senders wait later, and more is lost with a node."
    ),
    setting!(
        OfNode,
        "limits.queue_bytes",
        SIZE,
        limits.queue_bytes,
        "How many bytes wait for a lane, at least `limits.frame_max`."
    ),
    setting!(
        OfNode,
        "limits.unacked_max",
        SIZE,
        limits.unacked_max,
        "How many bytes are sent ahead of what is acknowledged, at least `limits.frame_max`. Raised, distant peers are reached at full speed and more is kept for each."
    ),
    setting!(
        OfNode,
        "limits.handshakes_at_once",
        COUNT,
        limits.handshakes_at_once,
        "How many handshakes are answered at once; the oldest has to go when there are more."
    ),
    setting!(
        OfNode,
        "limits.connections_max",
        count(3, u64::MAX),
        limits.connections_max,
        "How many inbound connections are kept; one peer has three."
    ),
    setting!(
        OfNode,
        "limits.handshake_time",
        Is::Time { least: Duration::from_millis(10), most: LONGEST },
        limits.handshake_time,
        "How long a handshake may take. Lowered, strangers are gone sooner, and slow networks may not connect."
    ),
    setting!(
        OfNode,
        "security.tls_authority",
        Is::File,
        tls_authority,
        "The certificates of the authorities to trust, in PEM form. All three `security.tls_*` or none."
    ),
    setting!(
        OfNode,
        "security.tls_certificate",
        Is::File,
        tls_certificate,
        "The node's certificate, followed by those between it and the authority, in PEM form."
    ),
    setting!(
        OfNode,
        "security.tls_key",
        Is::File,
        tls_key,
        "The private key of the node's certificate, in PEM form."
    ),
    setting!(
        OfNode,
        "security.secret_file",
        Is::File,
        secret_file,
        "A file with the secret that all nodes know, 16 bytes or more. It is never sent, and nothing is encrypted by it."
    ),
    setting!(
        OfNode,
        "security.secret_env",
        Is::Variable,
        secret_env,
        "The name of the environment variable that has the secret, as `BOROUGH_SECRET`, in place of `security.secret_file`."
    ),
    setting!(
        OfNode,
        "security.insecure",
        Is::Switch,
        insecure,
        "Lets the node listen where other machines reach it without TLS or secret: whoever reaches it may then join and send any message."
    ),
    setting!(
        OfNode,
        "management.listen",
        Is::Listen,
        management.listen,
        "Where management listens, if the program starts it. Elsewhere than on loopback it needs a token or `management.tls`."
    ),
    setting!(
        OfNode,
        "management.advertise",
        Is::Address,
        management.advertise,
        "What the other members are told, for people who follow links. Unset, where it listens."
    ),
    setting!(
        OfNode,
        "management.token",
        Is::Secret,
        management.token,
        "What whoever asks must send. Rather in a file of its own, or in the environment."
    ),
    setting!(
        OfNode,
        "management.token_file",
        Is::File,
        management.token_file,
        "A file with the token, in place of `management.token`."
    ),
    setting!(
        OfNode,
        "management.tls",
        Is::Switch,
        management.tls,
        "HTTPS with the node's own `security.tls_*`: whoever asks shows a certificate of the same authority."
    ),
];

/// What a type of entities is set to: for all types in `[sharding]`, for one in `[sharding.types.NAME]`.
pub(super) static KINDS: &[Setting] = &[
    setting!(
        OfKind,
        "sharding.shards",
        count(1, 65_536),
        shards,
        "How many shards a type has, for ever: ten to twenty times as many as there will ever be nodes. The same on all nodes."
    ),
    setting!(
        OfKind,
        "sharding.role",
        Is::Text,
        role,
        "Only members of this role host the type. Unset, every node that starts it. The same on all nodes."
    ),
    setting!(
        OfKind,
        "sharding.hash",
        Is::Choice(&HASHING_NAMES),
        hash,
        "How ids are mapped to shards; md5 is as Casty does it. The same on all nodes."
    ),
    setting!(
        OfKind,
        "sharding.allocation",
        Is::Form {
            forms: "least-shards, least-shards(AT_ONCE, PERCENT %), rendezvous or external",
            is_one: |text| allocation(text).is_some()
        },
        allocation,
        "By which rule shards are given to nodes. Of `least-shards`: how many move at once, 0 for no such limit, and how many hundredths of all. The same on all nodes."
    ),
    setting!(
        OfKind,
        "sharding.min_regions",
        count(1, u32::MAX as u64),
        min_regions,
        "So many nodes must host the type before any of its shards is given to one. The same on all nodes."
    ),
    setting!(
        OfKind,
        "sharding.codec",
        Is::Choice(&CODEC_NAMES),
        codec,
        "How messages to the type's entities, their answers, and states that move, are encoded. Unset, as `node.codec` says. Those other than postcard must be built in. The same on all nodes."
    ),
    setting!(
        OfKind,
        "sharding.hold_limit",
        count(0, u64::MAX),
        hold_limit,
        "How many messages wait on a node for shards that have no owner or are between two; beyond it senders wait."
    ),
    setting!(
        OfKind,
        "sharding.hold_bytes",
        Is::Size { least: 0, most: u64::MAX },
        hold_bytes,
        "How many bytes those messages take at most, all together."
    ),
    setting!(
        OfKind,
        "sharding.passivate_after",
        TIME,
        passivate_after,
        "An entity that has had no message for so long ends; its next message begins anew. Unset, never."
    ),
    setting!(
        OfKind,
        "sharding.max_entities",
        COUNT,
        max_entities,
        "At most so many entities of the type live on a node; others end to make room. Unset, there is no limit."
    ),
    setting!(
        OfKind,
        "sharding.passivation",
        Is::Choice(&POLICY_NAMES),
        passivation,
        "Which entities end when there are more than `max_entities`."
    ),
    setting!(
        OfKind,
        "sharding.handoff_timeout",
        TIME,
        handoff_timeout,
        "How long a turn that is under way may last when its shard is to move. After that the move of a type that migrates is called off and tried again after a rest, and entities of others are ended."
    ),
    setting!(
        OfKind,
        "sharding.transfer_timeout",
        TIME,
        transfer_timeout,
        "How long nothing of a shard that moves may arrive where it moves to. After that the move is called off and tried again after a rest."
    ),
];
