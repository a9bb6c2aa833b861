//! Settings, as a user meets them.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod support;

use support::{Place, outcome};

#[test]
fn config_shows_each_value_and_where_it_comes_from() {
    let place = Place::new();
    assert_eq!(
        place.prints(&["config"]),
        "setting          value           from     meaning\n\
         data_root        ./immuxdb-data  default  the directory of the store\n\
         server           (none)          default  the server to work through, instead of on files\n\
         chain            default         default  the chain that commands work on\n\
         durability       sync            default  how far a commit has gone when it returns\n\
         memory_limit     512MiB          default  how much memory the engine may use\n\
         listen           127.0.0.1:1991  default  the address and port at which the server listens\n\
         token            (none)          default  the token that requests to the server must have\n\
         max_body         64MiB           default  the largest body that the server takes, but for .bulk\n\
         max_connections  1024            default  how many connections the server takes, and how many requests at once\n\
         request_memory   256MiB          default  how much memory large bodies and answers of the server may take together\n\
         header_timeout   10s             default  how long the head of a request may take\n\
         body_timeout     30s             default  how long the body of a request may make no progress\n\
         idle_timeout     2m              default  how long a connection to the server may be idle\n\
         write_timeout    30s             default  how long a client may read nothing of its answer\n\
         stop_timeout     30s             default  how long a server that is being stopped waits for requests to end\n\
         log_format       text            default  how the server's log is written\n\
         log_level        info            default  what the server logs\n"
    );
    place.file("immuxdb.toml", "data_root = 'elsewhere'\nmemory_limit = 1048576\nchain = 'books'\n");
    let output =
        place.command(&["config", "--chain", "shop", "--json"]).env("IMMUXDB_DURABILITY", "process").output().unwrap();
    let lines: Vec<String> = outcome(output).out.lines().take(5).map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            r#"{"setting":"data_root","value":"elsewhere","origin":"file","place":"immuxdb.toml","meaning":"the directory of the store"}"#,
            r#"{"setting":"server","value":"(none)","origin":"default","place":null,"meaning":"the server to work through, instead of on files"}"#,
            r#"{"setting":"chain","value":"shop","origin":"flag","place":"--chain","meaning":"the chain that commands work on"}"#,
            r#"{"setting":"durability","value":"process","origin":"environment","place":"IMMUXDB_DURABILITY","meaning":"how far a commit has gone when it returns"}"#,
            r#"{"setting":"memory_limit","value":"1MiB","origin":"file","place":"immuxdb.toml","meaning":"how much memory the engine may use"}"#,
        ]
    );
}

#[test]
fn what_is_wrong_with_a_setting() {
    let place = Place::new();
    place.file("immuxdb.toml", "memory_limit = 'lots'\n");
    assert_eq!(
        place.fails(2, &["config"]),
        "error: immuxdb.toml: memory_limit is \"lots\"; expected a number of bytes, or a text like \"512MiB\" or \"2GiB\"\n \
         help: for example: memory_limit = \"512MiB\"\n"
    );
    place.file("immuxdb.toml", "memory_limits = 1\n");
    let failure = place.fails(2, &["scan", "g"]);
    let expected = "error: immuxdb.toml: there is no setting \"memory_limits\"\n \
                    help: did you mean memory_limit? There are: data_root, server, chain, durability, memory_limit, ";
    assert!(failure.starts_with(expected), "{failure}");
    place.file("other.toml", "");
    assert_eq!(place.run(&["config", "--config", "other.toml"]).code, 0);
    place.file("immuxdb.toml", "");
    let wrong = place.command(&["config"]).env("IMMUXDB_DURABILITY", "maybe").output().unwrap();
    assert_eq!(
        outcome(wrong).err,
        "error: IMMUXDB_DURABILITY is \"maybe\"; expected \"buffered\", \"process\" or \"sync\"\n \
         help: for example: IMMUXDB_DURABILITY=sync\n"
    );
    assert!(
        place.fails(2, &["config", "--durability", "maybe"]).contains("[possible values: buffered, process, sync]")
    );
}

#[test]
fn the_data_root_is_where_the_settings_say() {
    let place = Place::new();
    place.file("etc/shop.toml", "data_root = 'shop'\nchain = 'books'\n");
    place.prints(&["put", "g", "k", "1", "--config", "etc/shop.toml"]);
    assert!(place.path().join("etc/shop/books").is_dir());
    assert!(!place.path().join("immuxdb-data").exists());
    place.prints(&["put", "g", "k", "2"]);
    assert!(place.path().join("immuxdb-data/default").is_dir());
    assert_eq!(place.prints(&["get", "g", "k", "--data-root", "etc/shop", "--chain", "books"]), "1\n");
    assert_eq!(place.prints(&["chains"]), "chain\ndefault\n");
}

#[test]
fn completions_and_help() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(place.prints(&["completions", shell]).contains("immuxdb"));
    }
    assert!(place.prints(&["--help"]).contains("Exit codes: 0 done, 1 failed"));
    assert!(place.prints(&["help", "load"]).contains("--grouping"));
    assert_eq!(place.run(&[]).code, 2);
    assert_eq!(place.run(&["lod"]).code, 2);
}
