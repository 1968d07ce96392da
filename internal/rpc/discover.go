package rpc

import (
	"bytes"
	"encoding/json"

	"muster/discovery"
	"muster/discovery/report"
	"muster/internal/home"
	"muster/internal/rpc/jsonrpc"
)

// Asking says how servers are asked.
type Asking struct {
	Rate       float64 `json:"rate" flag:"rate" doc:"how many new servers are asked a second; more than 100 may overflow a home router"`
	Discreet   int     `json:"discreet" flag:"discreet" doc:"show the address to at most so many servers"`
	ListenAddr string  `json:"listen_addr" flag:"listen-addr" doc:"ask from this address of the machine"`
}

// Lists say which servers there are.
type Lists struct {
	Master      []string `json:"master" flag:"master" doc:"masters to ask instead of the game's own: HOST:PORT"`
	ServersFile string   `json:"servers_file" flag:"servers" doc:"a file with servers instead of the game's list, one a line"`
}

// Discover finds servers.
type Discover struct {
	Game         string  `json:"game" flag:"game" need:"true" doc:"the game's ID; games lists them"`
	Name         string  `json:"name" flag:"name" doc:"the player's name in the report"`
	Nearest      int     `json:"nearest" flag:"nearest" doc:"look for so many nearest servers"`
	MaxRTT       float64 `json:"max_rtt_ms" flag:"max-rtt" doc:"the ping over which a server is not near"`
	AutoStop     string  `json:"auto_stop" flag:"auto-stop" doc:"when to stop; off asks every server"`
	Fresh        bool    `json:"fresh" flag:"fresh" doc:"without what is remembered of earlier visits"`
	Map          string  `json:"map" flag:"map" doc:"only servers with this map"`
	Mode         string  `json:"mode" flag:"mode" doc:"only servers with this mode"`
	NotFull      bool    `json:"not_full" flag:"not-full" doc:"only servers with a free seat"`
	NotEmpty     bool    `json:"not_empty" flag:"not-empty" doc:"only servers where people play"`
	NoPassword   bool    `json:"no_password" flag:"no-password" doc:"only servers without a password"`
	NameContains string  `json:"name_contains" flag:"name-contains" doc:"only servers with this text in their name"`
	Country      string  `json:"country" flag:"country" doc:"only servers in this country, by its two letters"`
	Sort         string  `json:"sort" flag:"sort" doc:"the order of the ranks: ping, players, free, name, map, mode or country"`
	Lists
	Asking
}

func discover(c *call, p *Discover) {
	c.mu.Lock()
	isFull := c.looks >= maxLooks
	if !isFull {
		c.looks++
	}
	c.mu.Unlock()
	if isFull {
		c.reply(nil, jsonrpc.Errorf(TooMany, "%d discoveries may be under way at once", maxLooks))
		return
	}
	c.start(func() {
		defer func() {
			c.mu.Lock()
			c.looks--
			c.mu.Unlock()
		}()
		args := append(argsOf(p), setting("json", "true", ""), setting("top", "0", ""))
		var out bytes.Buffer
		err := c.config.Command(c.ctx, c.arguments("discover", args), &out, c.finder(), nil)
		switch {
		case c.ctx.Err() != nil:
			err = c.ctx.Err()
		case err != nil:
			err = errorOf(c.speaks(), err, args)
		}
		c.reply(json.RawMessage(out.Bytes()), err)
	})
}

func games(c *call, _ *struct{}) (json.RawMessage, error) {
	var out bytes.Buffer
	err := c.config.Command(c.ctx, c.arguments("games", []argument{setting("json", "true", "")}), &out, home.Quiet(), nil)
	return json.RawMessage(out.Bytes()), err
}

// finder returns the terminal of a discover, which tells of the servers.
func (c *call) finder() home.Terminal {
	found := Found{Request: c.id}
	tell := func(servers []report.Measurement) {
		if found.Servers = servers; c.id != nil {
			c.out.Notify("found "+string(c.id), "found", found)
		}
	}
	t := home.Quiet()
	t.Listed = func(servers int) { found.Listed = servers; tell([]report.Measurement{}) }
	t.Found = func(m report.Measurement) {
		found.Asked++
		if m.State != discovery.Answered {
			tell([]report.Measurement{})
			return
		}
		found.Answered++
		tell([]report.Measurement{m})
	}
	return t
}
