//! Cutting a failing run down until nothing more can be left out.

use super::plan::Plan;
use super::violation::Violation;

/// How many runs are spent on one finding, at most.
const RUNS_MAX: usize = 600;

/// The smallest plan found that still breaks the same rule. `breaks` runs a plan and says what it broke.
pub fn minimise(plan: Plan, violation: &Violation, breaks: impl FnMut(&Plan) -> Option<Violation>) -> Plan {
    let mut search = Search { violation, breaks, runs: 0 };
    let mut plan = plan;
    loop {
        let before = (plan.strikes.len(), plan.nodes);
        plan = search.with_fewer_faults(plan);
        plan = search.with_fewer_nodes(plan);
        if (plan.strikes.len(), plan.nodes) == before || search.runs >= RUNS_MAX {
            return plan;
        }
    }
}

struct Search<'a, F> {
    violation: &'a Violation,
    breaks: F,
    runs: usize,
}

impl<F: FnMut(&Plan) -> Option<Violation>> Search<'_, F> {
    fn still_breaks(&mut self, plan: &Plan) -> bool {
        self.runs += 1;
        self.runs <= RUNS_MAX && (self.breaks)(plan).is_some_and(|found| found.is_like(self.violation))
    }

    /// Leaves out halves, then quarters, and so on down to single faults; the last ones first, as they matter least.
    fn with_fewer_faults(&mut self, mut plan: Plan) -> Plan {
        let mut size = plan.strikes.len().div_ceil(2);
        while size > 0 {
            let mut end = plan.strikes.len();
            while end > 0 {
                let start = end.saturating_sub(size);
                let mut smaller = plan.clone();
                smaller.strikes.drain(start..end);
                if self.still_breaks(&smaller) {
                    plan = smaller;
                }
                end = start;
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        plan
    }

    fn with_fewer_nodes(&mut self, mut plan: Plan) -> Plan {
        while plan.nodes > 1 {
            let mut smaller = plan.clone();
            smaller.shrink_to(plan.nodes - 1);
            if !self.still_breaks(&smaller) {
                break;
            }
            plan = smaller;
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::plan::Wish;

    fn plan() -> Plan {
        Plan::draw(1, &Wish::default())
    }

    fn numbers(plan: &Plan) -> Vec<usize> {
        plan.strikes.iter().map(|strike| strike.number).collect()
    }

    #[test]
    fn what_is_not_needed_is_left_out() {
        let violation = Violation::Safety("rule", String::new());
        let found = violation.clone();
        let needed = [3, 7];
        let smallest = minimise(plan(), &violation, |plan| {
            let has_all = needed.iter().all(|number| numbers(plan).contains(number));
            (has_all && plan.nodes >= 2).then(|| found.clone())
        });
        assert_eq!(numbers(&smallest), needed);
    }

    #[test]
    fn a_plan_that_breaks_another_rule_is_no_smaller_one() {
        let violation = Violation::Safety("rule", String::new());
        let whole = plan();
        let smallest =
            minimise(whole.clone(), &violation, |_| Some(Violation::Liveness("rule", String::new())));
        assert_eq!(numbers(&smallest), numbers(&whole));
    }
}
