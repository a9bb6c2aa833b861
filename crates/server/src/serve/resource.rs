//! What can be asked for: the table of all paths.

use axum::http::Method;

/// Declares the resources, and their table.
macro_rules! resources {
    ($($name:ident $label:literal [$($method:ident)*] [$($path:literal)*],)*) => {
        /// A kind of resource.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Kind {
            $($name,)*
        }

        impl Kind {
            /// Its name in metrics.
            pub(crate) fn label(self) -> &'static str {
                match self { $(Kind::$name => $label),* }
            }

            /// The methods that it knows. HEAD comes with GET.
            pub(crate) fn methods(self) -> &'static [Method] {
                match self { $(Kind::$name => &[$(Method::$method),*]),* }
            }

            /// The paths that lead to it, as OpenAPI writes them.
            #[cfg(test)]
            pub(crate) fn paths(self) -> &'static [&'static str] {
                match self { $(Kind::$name => &[$($path),*]),* }
            }

            /// All of them.
            #[cfg(test)]
            pub(crate) const ALL: &'static [Kind] = &[$(Kind::$name),*];
        }
    };
}

resources! {
    Unit "unit" [GET PUT DELETE HEAD] ["/{grouping}/{key}" "/{grouping}/.unit"],
    Journal "journal" [GET HEAD] ["/{grouping}/{key}/.journal" "/{grouping}/.unit/.journal"],
    Revert "revert" [POST] ["/{grouping}/{key}/.revert" "/{grouping}/.unit/.revert"],
    UnitProof "proof" [GET HEAD] ["/{grouping}/{key}/.proof" "/{grouping}/.unit/.proof"],
    Scan "scan" [GET HEAD] ["/{grouping}"],
    Bulk "bulk" [POST] ["/{grouping}/.bulk"],
    Indexes "indexes" [GET HEAD] ["/{grouping}/.indexes"],
    Index "index" [GET PUT DELETE HEAD] ["/{grouping}/.indexes/{name}"],
    Groupings "groupings" [GET HEAD] ["/.groupings"],
    Chains "chains" [GET HEAD] ["/.chains"],
    Stats "stats" [GET HEAD] ["/.stats"],
    Root "root" [GET HEAD] ["/.root"],
    Extension "extension" [GET HEAD] ["/.extension"],
    Health "health" [GET HEAD] ["/.health"],
    Metrics "metrics" [GET HEAD] ["/.metrics"],
    OpenApi "openapi" [GET HEAD] ["/.openapi.json"],
}

/// What a target names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) kind: Kind,
    /// The grouping; empty where the kind has none.
    pub(crate) grouping: String,
    /// The unit's key, where it is in the path. Else it is in the parameters, for the kinds that have one.
    pub(crate) key: Option<Vec<u8>>,
    /// The index; empty where the kind has none.
    pub(crate) index: String,
}
