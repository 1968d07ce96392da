package metrics

import "muster/host/wire"

// reasons are all reasons of a refusal.
var reasons = []string{
	wire.ReasonVersion, wire.ReasonCode, wire.ReasonNameTaken, wire.ReasonName, wire.ReasonFull, wire.ReasonClosed,
	wire.ReasonMalformed, wire.ReasonSecret, wire.ReasonReplaced, wire.ReasonLocked, wire.ReasonRemoved, wire.ReasonAction,
	wire.ReasonOrigin, wire.ReasonBusy, wire.ReasonLimited, wire.ReasonCrowded, wire.ReasonLeft, wire.ReasonEnded, wire.ReasonMoved,
}

// limits maps the sentence of a refusal to the limit behind it. A limit has its setting's name, if there
// is one. Only these names become labels.
var limits = map[string]string{
	"refused.rooms-taken":       "max_rooms",
	"refused.network-rooms":     "rooms_per_address",
	"refused.networks-rooms":    "rooms_per_network",
	"refused.many-opened":       "opening_rate",
	"refused.league-rooms":      "league_rooms",
	"refused.standing-taken":    "standing_rooms",
	"refused.network-stays":     "standing_per_address",
	"refused.networks-stays":    "standing_per_network",
	"refused.players-most-here": "max_players",
	"refused.places-most":       "max_places",
	"refused.own-most":          "max_servers",
	"refused.full":              "room_players",
	"refused.guests-full":       "room_guests",
	"refused.too-much":          "request_rate",
	"refused.guesses":           "wrong_codes",
	"refused.guesses-network":   "wrong_codes",
	"refused.connections":       "connections",
	"refused.crowded":           "pages",
}
