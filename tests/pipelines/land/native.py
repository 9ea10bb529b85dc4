"""What tests of the extension share."""

NOT_BUILT = "the extension is not built here: `make native` builds it, where cargo is new enough"
