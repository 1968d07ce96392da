// Package networks is a host's memory of how far networks are from each other. It learns from the
// host's rooms, and tells later rooms, so that a search begins with forecasts.
//
//	a room's launch ─▶ Learn ─▶ trial ── agreed ──▶ cell ─▶ Known ─▶ the next room's forecasts
//	                              │                  │ ▲
//	                              └─ 28 days ─▶ gone ▼ │ Merge
//	                                                document: a file, or what a cluster's hosts share
//
// A cell tells how far servers are from players: the mean of the addresses' lowest RTTs, their
// spread, how many rooms agreed, and the hour. Players are known by their country and AS, and also
// by their country alone, for those whose AS is unknown or new. Servers are known by country, AS
// and /16 (IPv6 /32). No cell has an address, a name or a room.
//
// # What counts
//
// A cell needs three values that agree, each from another room and another network of players (/24,
// IPv6 /48). Three is the smallest number at which one liar is never the median, and no cell tells
// of a single room or household. A group makes one alone only if its players have three networks of
// one AS or country, in three rooms. Until then the values are a trial. A trial has the first value
// of each room and each network, at most five at a time, so three that agree are always the majority.
// The median of the values that agree counts. So one room moves a cell no further than honest values
// differ, and many rooms of one network move it no further than one.
//
// What players of a country measured stands in where their AS has no cell. But players of other ASes may
// be far away, and a liar finds three networks in a country sooner than in one AS. So nothing of the
// country stands in for an AS if the two disagree about more than a tenth of the parts that both know.
//
// A cell changes only by another trial. [memory.After] then takes the mean of both values, or the new
// one if the route has changed.
//
// # What is forgotten
//
// A trial knows rooms and networks by hashes under a random key. Trials and key stay in memory. They
// are in no document, and end with the trial, after 28 days, or with the process. A cell loses weight
// as it ages, and ends after two years.
//
// A memory has at most [MaxCells] cells. If there are more, the oldest sixteenth goes, and of one
// hour first the cells of small parts. If there are too many trials, a quarter goes: first those with
// the fewest values, so that a single network cannot push out what others have begun.
package networks
