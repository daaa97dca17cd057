//! A voter that has started again does not remember whose leases it counted for: it calls nobody quiet for as long as one of them may last.

use borough_protocol::node::{Message, Word};
use borough_protocol::settings::Checked;
use borough_protocol::table::Cluster;
use borough_protocol::voters::VoterId;

use crate::sim::life::Life;
use crate::sim::moment::Moment;
use crate::sim::violation::Violation;

/// The voter that a life goes on as, and of which cluster, by what its disk says.
pub(super) type Resumes = (Cluster, VoterId);

/// A life says something.
pub(super) fn says(
    now: Moment,
    life: &Life,
    resumes: Option<Resumes>,
    settings: &Checked,
    message: &Message,
) -> Result<(), Violation> {
    let Message::Word { word: Word::Quiet(report), .. } = message else { return Ok(()) };
    let Some((cluster, voter)) = resumes.filter(|_| !report.quiet.is_empty()) else { return Ok(()) };
    let age = life.local(now).since(life.local(life.born));
    if life.node.cluster() != Some(cluster) || life.node.voter() != voter || age >= settings.timing().wait {
        return Ok(());
    }
    let text = format!(
        "{:?} calls {:?} quiet {} ms after its start, and may have counted for a lease before",
        life.uid(),
        report.quiet,
        age.as_millis()
    );
    Err(Violation::Safety("restarted", text))
}
