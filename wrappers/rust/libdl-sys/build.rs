// SPDX-License-Identifier: Apache-2.0
//! Finds libdlcore: in the folder LIBDL_LIB_DIR, or where `pkg-config libdl` says.
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=LIBDL_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rustc-link-lib=dylib=dlcore");
    if let Ok(folder) = std::env::var("LIBDL_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        return;
    }
    let asked = Command::new("pkg-config").args(["--variable=libdir", "libdl"]).output();
    if let Ok(told) = asked {
        let folder = String::from_utf8_lossy(&told.stdout);
        if told.status.success() && !folder.trim().is_empty() {
            println!("cargo:rustc-link-search=native={}", folder.trim());
        }
    }
}
