"""The mask index: matching in bulk with one hash probe for each wildcard mask in use."""
