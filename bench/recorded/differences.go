package main

// differences are why a codec reads some facts otherwise than the recorders, by the
// recording's repository and name. The fact "" stands for the whole recording: then it
// counts as unread.
var differences = map[string]map[fact]string{
	"GameQ/Barotrauma/1":  {version: fromRules},
	"GameQ/Zomboid/1":     {version: fromRules},
	"GameQ/Zomboid/2":     {version: fromRules},
	"GameQ/Quakelive/1":   {version: fromRules},
	"GameQ/Quakelive/2":   {version: fromRules},
	"GameQ/Quakelive/3":   {version: fromRules},
	"GameQ/Samp/1":        {version: fromRules, listed: otherQuestion},
	"GameQ/Cs16/2":        {version: secondAnswer},
	"GameQ/Cs16/3":        {version: secondAnswer, players: counted},
	"GameQ/Hl1/1":         {version: secondAnswer},
	"GameQ/L4d/1":         {players: counted + ": the server pads the list, and says 8 of 10"},
	"GameQ/Rust/1":        {players: counted},
	"GameQ/Ffe/3":         {bots: "the server tells of a bot and of no players; bots are among Muster's players"},
	"GameQ/Ut3/1":         {bots: "numplayers leaves them out; Muster does not know whether they are playing"},
	"GameQ/Bfbc2/1":       {level: withoutFolder},
	"GameQ/Bfbc2/2":       {level: withoutFolder},
	"GameQ/Bfbc2/3":       {level: withoutFolder},
	"GameQ/Coduo/3":       {seats: private},
	"GameQ/Et/2":          {seats: private},
	"GameQ/Jedioutcast/3": {seats: private},
	"GameQ/Urbanterror/1": {seats: private},
	"GameQ/Urbanterror/2": {seats: private},
	"GameQ/Codmw2/3":      {name: "Muster drops the picture in the name"},
	"GameQ/Killingfloor/1": {
		listed: "GameQ stops at a name in UTF-16; the server says 14",
	},
	"serverstat/serverstat_test/1": {name: "the last character is a dot in Quake's font"},
	"GameQ/Theforrest/1":           {"": "only the list of players was recorded"},
	"GameQ/Etqw/1":                 {"": otherQuestion},
	"GameQ/Etqw/2":                 {"": otherQuestion},
	"GameQ/Etqw/3":                 {"": otherQuestion},
	"GameQ/Openttd/1":              {"": "an answer over UDP, which servers gave up to version 12"},
	"GameQ/Openttd/2":              {"": "an answer over UDP, which servers gave up to version 12"},
	"GameQ/Justcause2/1":           {"": otherQuestion},
	"GameQ/Justcause2/2":           {"": otherQuestion},
	"GameQ/Justcause2/3":           {"": otherQuestion},
}

// Reasons that several recordings share.
const (
	fromRules     = "GameQ takes it from the answer to another question, the rules"
	otherQuestion = "an answer to another question than Muster's"
	secondAnswer  = "the server sends two answers; Muster reads the first, in the old form, which has no version"
	counted       = "GameQ counts the list of players"
	withoutFolder = "Muster drops the folder"
	private       = "Muster leaves out private seats"
)
