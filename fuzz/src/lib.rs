//! What all targets share: under cargo-fuzz they are fed by libFuzzer, else they run the files that they are given.

#[cfg(fuzzing)]
pub use libfuzzer_sys;

/// Makes a target of a function over bytes.
#[cfg(fuzzing)]
#[macro_export]
macro_rules! target {
    ($decode:path) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            let _ = $decode(bytes);
        });
    };
}

/// Makes a program of a function over bytes: it runs each file that it is given once, which repeats a failure.
#[cfg(not(fuzzing))]
#[macro_export]
macro_rules! target {
    ($decode:path) => {
        fn main() -> std::io::Result<()> {
            for path in std::env::args_os().skip(1) {
                let taken = $decode(&std::fs::read(&path)?);
                println!("{}: {}", path.display(), if taken { "taken" } else { "refused" });
            }
            Ok(())
        }
    };
}
