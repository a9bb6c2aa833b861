//! A chain as plainly as it can be said: lists of leaves, and the recursion of RFC 6962 over them.

use immuxdb_proof::{
    Commit, Evidence, ExtensionProof, GroupingProof, Hash, Hidden, LogId, Operation, Root, Salt, Salted, Salts, Tree,
    UnitProof, VersionKind, VersionProof, content_hash, inclusion_ranges, key_hash,
};

/// MTH of RFC 6962, section 2.1.
pub fn naive(tree: Tree, leaves: &[Hash]) -> Hash {
    match leaves {
        [] => tree.empty(),
        [leaf] => *leaf,
        _ => {
            let mut k = 1;
            while k * 2 < leaves.len() {
                k *= 2;
            }
            tree.node(&naive(tree, &leaves[..k]), &naive(tree, &leaves[k..]))
        }
    }
}

/// The hashes of parts of a tree.
pub fn parts(tree: Tree, leaves: &[Hash], ranges: &[std::ops::Range<u64>]) -> Vec<Hash> {
    ranges.iter().map(|range| naive(tree, &leaves[range.start as usize..range.end as usize])).collect()
}

pub const LOG: LogId = LogId([7; 16]);

pub struct Written {
    pub commit: Commit,
    pub operations: Vec<Hash>,
}

impl Written {
    fn leaf(&self) -> Hash {
        self.commit.leaf(&naive(Tree::Operations, &self.operations)).unwrap()
    }
}

/// Commits one after another: the first defines a grouping and writes `ada`, the others write `ada` again among others.
#[derive(Default)]
pub struct Chain {
    pub commits: Vec<Written>,
}

pub fn salts(height: u64, place: u32) -> Salts {
    let mut salt = [0; 16];
    salt[..8].copy_from_slice(&height.to_le_bytes());
    salt[8..12].copy_from_slice(&place.to_le_bytes());
    Salts::of_body(&salt)
}

pub fn content(height: u64) -> String {
    format!(r#"{{"version":{height}}}"#)
}

impl Chain {
    pub fn of(heights: u64) -> Chain {
        let mut chain = Chain::default();
        for height in 1..=heights {
            let mut operations = Vec::new();
            if height == 1 {
                operations.push(Operation::DefineGrouping { grouping: 1, name: "people" }.leaf());
            }
            for number in 0..height % 4 {
                let grouping = 2 + number as u32;
                operations.push(Operation::ClearGrouping { grouping }.leaf());
            }
            let place = operations.len() as u32;
            let salts = salts(height, place);
            operations.push(
                Operation::Version {
                    kind: VersionKind::Json,
                    grouping: 1,
                    previous: height - 1,
                    key: key_hash(&salts.key, b"ada"),
                    content: content_hash(&salts.content, content(height).as_bytes()),
                }
                .leaf(),
            );
            operations.push(Operation::DropIndex { grouping: 1, index: height as u32 }.leaf());
            let actor = (height % 3 == 0).then(|| "eve".to_owned());
            let commit = Commit { height, time: 1_000_000 * height, actor, operations: operations.len() as u32 };
            chain.commits.push(Written { commit, operations });
        }
        chain
    }

    pub fn leaves(&self, height: u64) -> Vec<Hash> {
        self.commits[..height as usize].iter().map(Written::leaf).collect()
    }

    pub fn root(&self, height: u64) -> Root {
        Root::of_tree(LOG, height, &naive(Tree::Commits, &self.leaves(height)))
    }

    /// The place of the put of `ada`.
    fn place(&self, height: u64) -> u32 {
        self.commits[height as usize - 1].commit.operations - 2
    }

    fn evidence(&self, commit: u64, place: u32, at: u64) -> Evidence {
        let written = &self.commits[commit as usize - 1];
        let operation_ranges = inclusion_ranges(place.into(), written.commit.operations.into());
        Evidence {
            commit: written.commit.clone(),
            place,
            operation_path: parts(Tree::Operations, &written.operations, &operation_ranges),
            commit_path: parts(Tree::Commits, &self.leaves(at), &inclusion_ranges(commit - 1, at)),
        }
    }

    pub fn unit(&self, commit: u64, at: u64) -> UnitProof {
        let place = self.place(commit);
        let salts = salts(commit, place);
        let shown = |salt: Salt, bytes: &[u8]| Salted { salt, bytes: bytes.to_vec() };
        UnitProof {
            log: LOG,
            height: at,
            grouping: GroupingProof { name: "people".to_owned(), id: 1, evidence: self.evidence(1, 0, at) },
            version: VersionProof {
                key: shown(salts.key, b"ada"),
                kind: VersionKind::Json,
                content: Hidden::Shown(shown(salts.content, content(commit).as_bytes())),
                previous: (commit > 1).then(|| commit - 1),
                evidence: self.evidence(commit, place, at),
            },
        }
    }

    pub fn extension(&self, old: u64, new: u64) -> ExtensionProof {
        let ranges = immuxdb_proof::extension_ranges(old, new);
        ExtensionProof {
            log: LOG,
            old_height: old,
            new_height: new,
            path: parts(Tree::Commits, &self.leaves(new), &ranges),
        }
    }
}
