package host_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"muster/host"
	"muster/host/wire"
	"muster/internal/clock/clocktest"
)

// TestMatches plays a match with real connections, and checks what each caller gets of it: only
// players and the organiser have the password and the SteamID64s.
func TestMatches(t *testing.T) {
	t.Parallel()
	const steam, password = "76561197990682262", "club secret"
	settings := friday(2)
	settings.Match, settings.By, settings.Maps, settings.SideA = "bo1", "mean", "dm6", "Nightjars"
	settings.Password, settings.SteamIDs = password, wire.SteamIDs{wire.SideA: {"ann": steam}}
	typed := func(_ string, way wire.Way) wire.Way {
		way.Typed = &wire.Typed{Where: "console", Texts: []string{"/connect " + way.Connect}}
		return way
	}
	held := clocktest.Hold(noon)
	h, server := serve(t, host.Config{List: listOf(1), Join: typed, Clock: held.Clock()})
	code, secret, _ := h.Open(settings)
	var ann *player
	var players []*player
	for name, side := range map[string]wire.Side{"ann": wire.SideA, "bob": wire.SideB} {
		p := says(t, server, "", wire.Hello{Code: code, Name: name, Side: side})
		welcome := expect[wire.Welcome](p)
		p.token, p.page = welcome.Token, welcome.Page
		if name == "ann" {
			ann = p
		}
		players = append(players, p)
	}
	n := &night{t, h, held, code}
	n.pass(tick)
	for _, p := range players {
		p.measures(20)
	}
	n.await(everyoneIsDone)
	n.pass(tick)
	for _, p := range players {
		p.looks()
	}
	guest := enters(t, server, code, "zoe", "")
	page := openPage(t, server, code, secret)
	n.passesUntil(launches)
	page.until("the launch", page.says("room", `"stage":"launching"`))
	for _, tt := range []struct {
		name, query, credential string
		status                  int
		has, lacks              []string
	}{
		{"the organiser", "", secret, http.StatusOK, []string{`"format":"muster.matches/1"`, steam, password, `"captain":"ann"`,
			`"spectate":"/connect 10.0.0.0:27960"`, `"maps":["dm6"]`, `"ping_ms":5`}, nil},
		{"a player", "", ann.page, http.StatusOK, []string{steam, password}, nil},
		{"a guest", "", guest, http.StatusOK, []string{`"name":"Nightjars"`}, []string{steam, password}},
		{"somebody with the code", "", "", http.StatusOK, []string{`"name":"Nightjars"`}, []string{steam, password}},
		{"a player's table", "?format=csv", ann.page, http.StatusOK, []string{",a,Nightjars,5.0,true,ann,5.0,,\n"}, []string{steam, password}},
		{"a player's file", "?format=get5", ann.page, http.StatusOK, []string{`"sv_password": "club secret"`, `"` + steam + `": "ann"`,
			`"get5_check_auths": "0"`}, nil},
		{"a guest's file", "?format=get5&round=1", guest, http.StatusOK, []string{`"name": "Nightjars"`}, []string{steam, password}},
		{"a round without one", "?format=get5&round=2", ann.page, http.StatusNotFound, []string{"refused.match-none"}, nil},
		{"a file that lacks an id", "?format=matchzy", ann.page, http.StatusConflict, []string{"refused.match-ids"}, nil},
		{"another kind", "?format=faceit", ann.page, http.StatusBadRequest, []string{"refused.match-kind"}, nil},
	} {
		header := map[string]string{}
		if tt.credential != "" {
			header["Authorization"] = "Bearer " + tt.credential
		}
		status, said := asks(t, server, "GET", "/api/rooms/"+code+"/matches"+tt.query, "", header)
		if status != tt.status || tt.query == "" && !json.Valid([]byte(said)) {
			t.Errorf("%s: %d %s", tt.name, status, said)
		}
		for _, has := range tt.has {
			if !strings.Contains(said, has) {
				t.Errorf("%s: %s lacks %s", tt.name, said, has)
			}
		}
		for _, lacks := range tt.lacks {
			if strings.Contains(said, lacks) {
				t.Errorf("%s: %s has %s", tt.name, said, lacks)
			}
		}
	}
}
