"""The steps that verbs share, each a decision or one trip: values in, values out."""
