//! From when to when a certificate is valid, in words.

use tokio_rustls::rustls::pki_types::UnixTime;
use tokio_rustls::rustls::{CertificateError, Error};

const DAY: u64 = 24 * 60 * 60;
/// The days of 400 years, after which the calendar repeats.
const ERA: u64 = 146_097;
/// From the first of March of the year 0 to the beginning of 1970.
const BEFORE_1970: u64 = 719_468;

/// What is wrong with the dates of a certificate, if that is what is wrong with it. It does not say when that was found: the text is the same each time.
pub(super) fn outdated(error: &Error) -> Option<String> {
    let Error::InvalidCertificate(why) = error else { return None };
    match why {
        CertificateError::ExpiredContext { not_after, .. } => {
            Some(format!("expired at {}", date(*not_after)))
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            Some(format!("is only valid from {} on", date(*not_before)))
        }
        _ => None,
    }
}

/// The date and time in UTC.
pub(super) fn date(time: UnixTime) -> String {
    let (days, of_day) = (time.as_secs() / DAY, time.as_secs() % DAY);
    // Years that begin in March have their leap day at the end.
    let (era, of_era) = ((days + BEFORE_1970) / ERA, (days + BEFORE_1970) % ERA);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (978_307_199, "2000-12-31 23:59:59 UTC"),
            (1_709_251_200, "2024-03-01 00:00:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(date(UnixTime::since_unix_epoch(Duration::from_secs(seconds))), text);
        }
    }
}
