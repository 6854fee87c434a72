"""Message layouts in a notation of our own, one file per API or record family.

    request FetchRequest key=1 versions=0-18 flexible=12+ listeners=broker,controller
        clusterId: string?      12+   tag=0 default=null ignorable
        replicaId: int32        0-14  default=-1
        topics: []FetchTopic    0+
            topic: string       0-12  ignorable

A message starts at the margin: its kind, its name, the request key or record type, the versions that exist
and the first flexible one (KIP-482). Each indented line is a field: name, type, the versions that carry it
(`n+` ends with the message's newest), then attributes. Fields of a struct type are indented below it;
`struct Name` starts a struct that several fields share.

- types: bool int8 int16 uint16 int32 uint32 int64 float64 uuid string bytes records, a struct, `[]` of one of
  them; `?` after the type: null is legal in every version that has the field, else `null=versions`.
- `tag=n`: a tagged field in every version that has it, else in `tagged=versions`.
- `default=`: what a reader takes when the field is absent; otherwise zero, empty, or a struct of defaults.
- `ignorable`: a writer drops a value that the version cannot carry; without it, it refuses.
- `inflexible`: written the old way even in flexible versions.
"""
