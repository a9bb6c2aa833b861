//! Tells the engine's sources that a scheduler gives out the turns.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=immuxdb_shuttle");
}
