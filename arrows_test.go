package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pkg is a package as go list tells of it.
type pkg struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

// arrows say which of Muster's packages a package, and those below it, may
// import. A path that ends in /... stands for everything below it. A
// package's own internal folder is its own affair.
var arrows = []struct {
	from string
	to   []string
}{
	{module, []string{"muster/internal/cli"}},
	{"muster/internal/cli", []string{module + "/..."}},
	{"muster/internal/hint", []string{"muster/internal/catalogue", "muster/discovery", "muster/discovery/lists/master", "muster/host/wire"}},
	{"muster/internal/input", nil},
	{"muster/internal/announcing", []string{"muster/discovery", "muster/discovery/lists/lan", "muster/host/wire", "muster/peer"}},
	{"muster/internal/browse", []string{"muster/internal/catalogue", "muster/discovery", "muster/discovery/plan", "muster/discovery/plan/topology", "muster/discovery/prober", "muster/discovery/report", "muster/internal/hint", "muster/internal/term", "muster/internal/visits", "muster/selection", "muster/internal/watch"}},
	{"muster/internal/demo", []string{"muster/internal/catalogue", "muster/discovery", "muster/discovery/lists/master", "muster/discovery/prober", "muster/host", "muster/host/room", "muster/host/wire", "muster/internal/game", "muster/internal/hint", "muster/internal/invite", "muster/internal/lobby", "muster/internal/netinfo", "muster/internal/sim", "muster/internal/sim/fleet", "muster/internal/term", "muster/peer", "muster/selection", "muster/web"}},
	{"muster/internal/rpc", []string{"muster/internal/rpc/jsonrpc", "muster/discovery", "muster/discovery/report", "muster/host/wire", "muster/internal/catalogue", "muster/internal/catalogue/languages", "muster/internal/game", "muster/internal/hint", "muster/internal/home", "muster/internal/invite", "muster/internal/lobby", "muster/peer", "muster/selection"}},
	{"muster/internal/rpc/jsonrpc", nil},
	{"muster/internal/reports", []string{"muster/discovery", "muster/discovery/report", "muster/discovery/report/qstat", "muster/internal/hint", "muster/internal/input", "muster/internal/catalogue", "muster/internal/term", "muster/selection"}},
	{"muster/internal/option", []string{"muster/internal/hint", "muster/internal/slip", "muster/selection"}},
	{"muster/internal/doctor", []string{"muster/discovery", "muster/discovery/geo", "muster/discovery/lists/lan", "muster/discovery/lists/master", "muster/discovery/names", "muster/internal/game", "muster/internal/hint", "muster/internal/netinfo", "muster/internal/release", "muster/internal/term"}},
	{"muster/internal/steam", []string{"muster/discovery/lists/master", "muster/internal/game", "muster/internal/hint"}},
	{"muster/internal/favourites", []string{"muster/internal/term", "muster/discovery", "muster/discovery/lists/address", "muster/discovery/lists/master", "muster/discovery/report/qstat", "muster/discovery/lists/weblist"}},
	{"muster/internal/home", []string{"muster/internal/markup", "muster/internal/catalogue", "muster/internal/catalogue/languages", "muster/discovery", "muster/discovery/regions", "muster/discovery/sentence", "muster/discovery/lists/lan", "muster/discovery/report", "muster/internal/favourites", "muster/internal/hint", "muster/internal/invite", "muster/internal/netinfo", "muster/internal/userfile"}},
	{"muster/internal/term", []string{"muster/internal/catalogue"}},
	{"muster/internal/netinfo", nil},
	{"muster/internal/publichost", []string{"muster/discovery", "muster/host", "muster/host/...", "muster/internal/echo", "muster/internal/game", "muster/internal/handout", "muster/internal/hint", "muster/internal/ingress", "muster/internal/listing", "muster/internal/netinfo", "muster/internal/ownhost", "muster/internal/release", "muster/internal/term", "muster/internal/userfile", "muster/internal/webhook", "muster/selection", "muster/web"}},
	{"muster/internal/checkup", []string{"muster/host/cluster", "muster/internal/hint", "muster/internal/publichost"}},
	{"muster/internal/operator", []string{"muster/host/operating", "muster/internal/hint", "muster/internal/term"}},
	{"muster/internal/release", nil},
	{"muster/internal/markup", nil},
	{"muster/internal/release/fetch", []string{"muster/discovery", "muster/internal/release"}},
	{"muster/internal/release/releasetest", []string{"muster/internal/release"}},
	{"muster/internal/alarm", nil},
	{"muster/internal/leak", nil},
	{"muster/internal/await", nil},
	{"muster/internal/freeport", nil},
	{"muster/internal/clock", nil},
	{"muster/internal/clock/clocktest", []string{"muster/internal/clock"}},
	{"muster/internal/echo", []string{"muster/discovery/protocol/beacon"}},
	{"muster/internal/portmap", []string{"muster/discovery", "muster/internal/netinfo"}},
	{"muster/internal/invite", []string{"muster/discovery", "muster/host/access", "muster/internal/hint"}},
	{"muster/internal/handout", []string{"muster/internal/markup", "muster/internal/catalogue", "muster/internal/catalogue/languages", "muster/internal/hint", "muster/internal/invite", "muster/internal/release", "muster/internal/release/fetch"}},
	{"muster/internal/tables", []string{"muster/internal/hint", "muster/internal/input", "muster/internal/term", "muster/discovery/geo", "muster/internal/release/fetch"}},
	{"muster/internal/register", nil},
	{"muster/internal/config", []string{"muster/discovery", "muster/internal/hint", "muster/internal/input", "muster/internal/slip", "muster/internal/tomlerr", "muster/internal/userfile"}},
	{"muster/internal/recipe", nil},
	{"muster/internal/slip", nil},
	{"muster/internal/tomlerr", []string{"muster/discovery"}},
	{"muster/internal/userfile", nil},
	{"muster/internal/identify", []string{"muster/discovery", "muster/discovery/lists/address", "muster/discovery/names", "muster/discovery/prober", "muster/internal/game", "muster/internal/hint", "muster/internal/term"}},
	{"muster/internal/which", []string{"muster/internal/game", "muster/internal/hint", "muster/internal/term"}},
	{"muster/internal/venue", []string{"muster/internal/userfile", "muster/selection/scout", "muster/discovery", "muster/discovery/prober", "muster/host/wire", "muster/internal/game", "muster/internal/hint", "muster/internal/input", "muster/internal/term", "muster/internal/echo", "muster/internal/netinfo", "muster/internal/portmap"}},
	{"muster/internal/lobby", []string{"muster/host/matchfile", "muster/selection/memory", "muster/internal/catalogue", "muster/discovery", "muster/discovery/lists/lan", "muster/discovery/names", "muster/discovery/regions", "muster/discovery/protocol/beacon", "muster/selection", "muster/host/access", "muster/host/room", "muster/host/schedule", "muster/host/wire", "muster/peer", "muster/peer/delayed", "muster/internal/announcing", "muster/internal/echo", "muster/internal/favourites", "muster/internal/game", "muster/internal/hint", "muster/internal/home", "muster/internal/invite", "muster/internal/listing", "muster/internal/netinfo", "muster/internal/portmap", "muster/internal/term", "muster/internal/userfile"}},
	{"muster/internal/ownhost", []string{"muster/discovery", "muster/discovery/lists/lan", "muster/host", "muster/host/access", "muster/host/room", "muster/host/store", "muster/host/wire", "muster/web", "muster/internal/hint", "muster/internal/ingress", "muster/internal/invite", "muster/internal/listing", "muster/internal/netinfo", "muster/internal/release", "muster/internal/userfile", "muster/internal/webhook"}},
	{"muster/internal/ingress", []string{"muster/discovery", "muster/discovery/lists/lan", "muster/host", "muster/host/access", "muster/internal/announcing", "muster/internal/hint", "muster/internal/invite", "muster/internal/netinfo", "muster/internal/portmap"}},
	{"muster/internal/game", []string{"muster/discovery/...", "muster/selection", "muster/selection/rules", "muster/host/wire", "muster/internal/hint", "muster/internal/input", "muster/internal/slip", "muster/internal/term", "muster/internal/tomlerr", "muster/internal/userfile"}},
	{"muster/internal/listing", []string{"muster/discovery/...", "muster/host/room", "muster/host/wire", "muster/internal/game", "muster/internal/hint", "muster/internal/input", "muster/internal/term", "muster/internal/userfile"}},
	{"muster/internal/watch", []string{"muster/discovery"}},
	{"muster/internal/webhook", []string{"muster/internal/catalogue", "muster/internal/netinfo", "muster/discovery", "muster/host/wire"}},
	{"muster/internal/visits", []string{"muster/discovery", "muster/discovery/plan/history"}},
	{"muster/internal/sim", []string{"muster/host/room/people", "muster/discovery/...", "muster/internal/hint", "muster/selection/...", "muster/host/room", "muster/host/wire", "muster/peer/player"}},
	{"muster/internal/sim/scenery", []string{"muster/internal/sim", "muster/internal/input", "muster/internal/listing"}},
	{"muster/internal/sim/fleet", []string{"muster/internal/alarm", "muster/internal/game", "muster/internal/sim", "muster/internal/term"}},
	{"muster/internal/sim/plot", []string{"muster/internal/term", "muster/internal/sim"}},
	{"muster/host", []string{"muster/internal/catalogue", "muster/internal/catalogue/languages", "muster/internal/markup", "muster/internal/recipe", "muster/host/room/people", "muster/host/access", "muster/host/admission", "muster/host/demand", "muster/host/lists", "muster/host/matchfile", "muster/host/metrics", "muster/host/networks", "muster/host/openers", "muster/host/operating", "muster/host/pressure", "muster/host/public", "muster/host/store", "muster/host/page", "muster/host/room", "muster/host/turns", "muster/host/wire/...", "muster/selection/...", "muster/discovery", "muster/discovery/plan/topology", "muster/internal/clock"}},
	{"muster/peer", []string{"muster/peer/player", "muster/host/access", "muster/host/wire/...", "muster/discovery", "muster/selection/memory", "muster/internal/clock"}},
	{"muster/peer/delayed", []string{"muster/discovery", "muster/internal/alarm"}},
	{"muster/peer/player", []string{"muster/host/wire", "muster/discovery", "muster/discovery/plan/topology", "muster/discovery/plan", "muster/selection/memory"}},
	{"muster/host/room", []string{"muster/host/room/...", "muster/host/schedule", "muster/host/wire", "muster/selection/...", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/host/room/facts", []string{"muster/selection/memory", "muster/selection/anomaly", "muster/host/room/people", "muster/host/room/roomtime", "muster/host/room/attendance", "muster/host/room/ballot", "muster/host/room/bans", "muster/host/room/brought", "muster/host/room/calendar", "muster/host/room/candidates", "muster/host/room/choice", "muster/host/room/editions", "muster/host/room/estimates", "muster/host/room/evened", "muster/host/room/evidence", "muster/host/room/homes", "muster/host/room/ingame", "muster/host/room/launch", "muster/host/room/lines", "muster/host/room/listing", "muster/host/room/infos", "muster/host/room/nearby", "muster/host/room/origin", "muster/host/room/reactions", "muster/host/room/roster", "muster/host/room/saved", "muster/host/room/sides", "muster/host/room/trust", "muster/host/wire", "muster/selection", "muster/discovery", "muster/discovery/plan/topology", "muster/host/room/memories"}},
	{"muster/host/room/roomtest", []string{"muster/host/room/people", "muster/host/room", "muster/host/room/evidence", "muster/host/room/saved", "muster/host/wire", "muster/selection", "muster/selection/memory", "muster/discovery", "muster/discovery/plan/topology", "muster/discovery/sentence"}},
	{"muster/host/room/facts/factstest", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/room/evidence", "muster/host/room/facts", "muster/host/room/nearby", "muster/host/room/origin", "muster/host/room/roster", "muster/host/room/saved", "muster/host/wire", "muster/selection", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/host/room/probing", []string{"muster/host/room/infos", "muster/host/room/people", "muster/host/room/roomtime", "muster/host/room/ballot", "muster/host/room/evidence", "muster/host/room/finals", "muster/host/room/facts", "muster/host/room/pace", "muster/host/room/podium", "muster/host/room/search", "muster/host/wire", "muster/selection", "muster/selection/coordinate", "muster/selection/rules", "muster/discovery"}},
	{"muster/host/room/decision", []string{"muster/selection/law", "muster/host/room/people", "muster/host/room/roomtime", "muster/host/room/attendance", "muster/host/room/ballot", "muster/host/room/bans", "muster/host/room/choice", "muster/host/room/editions", "muster/host/room/evidence", "muster/host/room/finals", "muster/host/room/facts", "muster/host/room/probing", "muster/host/room/search", "muster/host/room/seats", "muster/host/room/trust", "muster/host/wire", "muster/selection", "muster/selection/anomaly", "muster/selection/even", "muster/selection/rules", "muster/discovery"}},
	{"muster/host/room/waiting", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/room/attendance", "muster/host/room/ballot", "muster/host/room/decision", "muster/host/room/facts", "muster/host/room/nickname", "muster/host/room/seats", "muster/host/wire", "muster/selection"}},
	{"muster/host/room/attendance", []string{"muster/host/room/people", "muster/host/room/roomtime"}},
	{"muster/host/room/pace", []string{"muster/host/room/people", "muster/host/room/roomtime"}},
	{"muster/host/room/privacy", []string{"muster/selection/law", "muster/host/wire", "muster/selection"}},
	{"muster/host/room/sides", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire"}},
	{"muster/host/room/ballot", []string{"muster/host/room/people", "muster/host/wire", "muster/selection"}},
	{"muster/host/room/bans", []string{"muster/selection/law", "muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire"}},
	{"muster/host/room/brought", []string{"muster/host/room/people", "muster/host/wire", "muster/selection", "muster/discovery"}},
	{"muster/host/room/calendar", []string{"muster/host/room/roomtime", "muster/host/room/people", "muster/host/schedule", "muster/host/wire", "muster/discovery"}},
	{"muster/host/room/choice", []string{"muster/host/room/people", "muster/host/wire", "muster/selection", "muster/selection/rules", "muster/discovery"}},
	{"muster/host/room/editions", []string{"muster/host/room/people", "muster/selection", "muster/discovery"}},
	{"muster/host/room/estimates", []string{"muster/host/room/people", "muster/host/wire", "muster/selection", "muster/selection/coordinate", "muster/selection/estimate", "muster/discovery"}},
	{"muster/host/room/infos", []string{"muster/host/room/people", "muster/host/wire", "muster/host/room/evidence", "muster/selection", "muster/selection/anomaly", "muster/discovery"}},
	{"muster/host/room/evened", []string{"muster/host/room/people", "muster/host/wire", "muster/selection/even", "muster/selection/rules"}},
	{"muster/host/room/ingame", []string{"muster/host/room/people", "muster/host/room/roomtime"}},
	{"muster/host/room/evidence", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire", "muster/selection", "muster/selection/line", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/host/room/candidates", []string{"muster/discovery/countries", "muster/host/room/people", "muster/host/room/evidence", "muster/host/wire", "muster/selection/scout", "muster/selection/estimate", "muster/discovery"}},
	{"muster/host/room/homes", []string{"muster/host/room/people", "muster/host/wire", "muster/discovery"}},
	{"muster/host/room/podium", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire", "muster/selection", "muster/selection/rules", "muster/discovery"}},
	{"muster/host/room/finals", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire", "muster/selection", "muster/discovery"}},
	{"muster/host/room/search", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire", "muster/selection", "muster/selection/coordinate", "muster/selection/rules", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/host/room/saved", []string{"muster/host/room/...", "muster/host/wire", "muster/selection", "muster/discovery"}},
	{"muster/host/room/seats", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire", "muster/selection", "muster/discovery"}},
	{"muster/host/room/trust", []string{"muster/host/room/people", "muster/selection", "muster/selection/anomaly", "muster/selection/rules", "muster/discovery"}},
	{"muster/host/room/terms", []string{"muster/host/schedule", "muster/host/wire"}},
	{"muster/host/room/journal", []string{"muster/host/room/people", "muster/host/wire"}},
	{"muster/host/room/moving", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire", "muster/selection", "muster/selection/memory", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/host/room/launch", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire", "muster/selection"}},
	{"muster/host/room/listing", []string{"muster/host/wire", "muster/selection", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/host/room/lines", []string{"muster/host/room/people", "muster/selection", "muster/selection/excess", "muster/selection/memory", "muster/discovery"}},
	{"muster/host/room/memories", []string{"muster/host/room/people", "muster/selection/memory", "muster/discovery/plan/topology"}},
	{"muster/host/room/nearby", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire", "muster/discovery"}},
	{"muster/host/room/nickname", []string{"muster/discovery"}},
	{"muster/host/room/origin", []string{"muster/host/room/people", "muster/host/wire", "muster/selection", "muster/selection/estimate", "muster/discovery"}},
	{"muster/host/room/outage", []string{"muster/host/room/roomtime"}},
	{"muster/host/room/reactions", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/wire"}},
	{"muster/host/room/roomtime", nil},
	{"muster/host/room/people", []string{"muster/host/room/roomtime"}},
	{"muster/host/room/roster", []string{"muster/host/room/people", "muster/host/room/roomtime", "muster/host/room/nickname", "muster/host/wire", "muster/discovery"}},
	{"muster/host/hosttest", []string{"muster/host/wire", "muster/host/wire/conn", "muster/discovery"}},
	{"muster/host/page", []string{"muster/host/room", "muster/host/wire", "muster/selection", "muster/discovery"}},
	{"muster/host/access", nil},
	{"muster/host/admission", []string{"muster/host/access", "muster/host/pressure"}},
	{"muster/host/demand", []string{"muster/host/room"}},
	{"muster/host/keyfile", nil},
	{"muster/host/lists", []string{"muster/host/public", "muster/host/room", "muster/host/store", "muster/host/wire", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/host/matchfile", []string{"muster/host/wire", "muster/discovery", "muster/discovery/protocol/quake3", "muster/discovery/protocol/quakeworld"}},
	{"muster/host/networks", []string{"muster/selection/memory", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/host/metrics", []string{"muster/host/room", "muster/host/store", "muster/host/wire"}},
	{"muster/host/operating", []string{"muster/host/access", "muster/host/keyfile", "muster/host/pressure", "muster/host/wire", "muster/discovery", "muster/internal/clock"}},
	{"muster/host/pressure", []string{"muster/host/access"}},
	{"muster/host/openers", []string{"muster/host/access", "muster/host/store", "muster/host/wire", "muster/internal/clock"}},
	{"muster/host/public", []string{"muster/host/access", "muster/host/keyfile", "muster/host/room", "muster/host/schedule", "muster/host/wire", "muster/selection", "muster/selection/rules", "muster/discovery"}},
	{"muster/host/turns", []string{"muster/host/room"}},
	{"muster/host/schedule", nil},
	{"muster/host/store", nil},
	{"muster/host/between", nil},
	{"muster/host/cluster", []string{"muster/host/store", "muster/internal/clock"}},
	{"muster/host/wire", []string{"muster/internal/catalogue", "muster/internal/slip", "muster/host/schedule", "muster/selection", "muster/selection/even", "muster/selection/excess", "muster/selection/law", "muster/selection/rules", "muster/discovery", "muster/discovery/lists/address", "muster/discovery/plan/topology", "muster/selection/memory"}},
	{"muster/host/wire/conn", []string{"muster/host/wire"}},
	{"muster/selection", []string{"muster/discovery/report", "muster/selection/anomaly", "muster/selection/law", "muster/selection/rules", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/selection/rules", nil},
	{"muster/selection/anomaly", []string{"muster/discovery"}},
	{"muster/selection/excess", []string{"muster/discovery", "muster/discovery/plan/topology", "muster/selection", "muster/selection/memory"}},
	{"muster/selection/even", []string{"muster/selection/rules"}},
	{"muster/selection/law", []string{"muster/selection/rules", "muster/discovery"}},
	{"muster/selection/estimate", []string{"muster/discovery/countries", "muster/selection", "muster/selection/rules", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/selection/scout", []string{"muster/discovery/countries"}},
	{"muster/selection/line", []string{"muster/discovery/plan/topology"}},
	{"muster/selection/memory", []string{"muster/discovery/countries", "muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/selection/coordinate", []string{"muster/selection", "muster/discovery", "muster/discovery/plan/topology", "muster/selection/memory"}},
	{"muster/discovery", nil},
	{"muster/discovery/countries", nil},
	{"muster/discovery/sentence/say", []string{"muster/internal/catalogue/languages"}}, // words for programs that import other packages
	{"muster/discovery/internal/testlist", []string{"muster/discovery"}},
	{"muster/discovery/plan/topology", []string{"muster/discovery"}},
	{"muster/discovery/plan/history", []string{"muster/discovery", "muster/discovery/plan/topology"}},
	{"muster/discovery/plan/calibrated", []string{"muster/discovery", "muster/discovery/plan/topology", "muster/discovery/plan/history"}},
	{"muster/discovery/plan/adaptive", []string{"muster/discovery/countries", "muster/discovery", "muster/discovery/plan/topology", "muster/discovery/plan/history"}},
	{"muster/discovery/plan", []string{"muster/discovery", "muster/discovery/plan/topology", "muster/discovery/plan/calibrated", "muster/discovery/plan/adaptive"}},
	{"muster/discovery/report", []string{"muster/discovery"}},
	{"muster/discovery/report/qstat", []string{"muster/discovery/report", "muster/discovery", "muster/discovery/internal/packet", "muster/discovery/protocol/quake3"}},
	{"muster/discovery/protocol/ase", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/unreal2", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/a2s", []string{"muster/discovery", "muster/discovery/internal/charset", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/quake3", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/quakeworld", []string{"muster/discovery", "muster/discovery/internal/packet", "muster/discovery/protocol/quake3"}},
	{"muster/discovery/protocol/gamespy", []string{"muster/discovery", "muster/discovery/internal/packet", "muster/discovery/protocol/quake3"}},
	{"muster/discovery/protocol/teeworlds", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/jamulus", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/luanti", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/bedrock", []string{"muster/discovery", "muster/discovery/internal/charset", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/doom3", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/frostbite", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/zandronum", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/satisfactory", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/samp", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/sqp", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/sauerbraten", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/mumble", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/mindustry", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/minecraft", []string{"muster/discovery", "muster/discovery/internal/charset", "muster/discovery/protocol/bedrock", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/odamex", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/openttd", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/beacon", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/protocol/tcp", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/internal/charset", nil},
	{"muster/discovery/internal/packet", []string{"muster/discovery", "muster/discovery/internal/charset"}},
	{"muster/discovery/prober/probertest", []string{"muster/discovery"}},
	{"muster/discovery/internal/codectest", []string{"muster/discovery", "muster/discovery/internal/packet"}},
	{"muster/discovery/names", []string{"muster/discovery"}},
	{"muster/discovery/prober", []string{"muster/discovery", "muster/discovery/names"}},
	{"muster/discovery/regions", []string{"muster/discovery"}},
	{"muster/discovery/lists/address", []string{"muster/discovery"}},
	{"muster/discovery/lists/master", []string{"muster/discovery", "muster/discovery/names", "muster/discovery/regions", "muster/discovery/lists/address", "muster/discovery/lists/weblist"}},
	{"muster/discovery/lists/weblist", []string{"muster/discovery", "muster/discovery/internal/charset", "muster/discovery/internal/packet"}},
	{"muster/discovery/geo", []string{"muster/discovery", "muster/discovery/geo/ranges"}},
	{"muster/discovery/lists/lan", []string{"muster/discovery", "muster/discovery/sentence"}},
	{"muster/web", []string{"muster/internal/catalogue", "muster/internal/catalogue/languages"}},
	{"muster/internal/catalogue/languages", []string{"muster/internal/catalogue"}},
	{"muster/internal/catalogue", []string{"muster/discovery"}},
}

// pure packages import nothing but the standard library and each other: they
// decide, they do not act.
var pure = []string{
	"muster/discovery",
	"muster/discovery/countries",
	"muster/discovery/plan/topology",
	"muster/discovery/plan/history",
	"muster/discovery/plan/calibrated",
	"muster/discovery/plan/adaptive",
	"muster/discovery/plan",
	"muster/discovery/report",
	"muster/discovery/internal/charset",
	"muster/discovery/internal/packet",
	"muster/discovery/protocol/a2s",
	"muster/discovery/protocol/ase",
	"muster/discovery/protocol/unreal2",
	"muster/discovery/protocol/quake3",
	"muster/discovery/protocol/quakeworld",
	"muster/discovery/protocol/gamespy",
	"muster/discovery/protocol/teeworlds",
	"muster/discovery/protocol/jamulus",
	"muster/discovery/protocol/luanti",
	"muster/discovery/protocol/bedrock",
	"muster/discovery/protocol/doom3",
	"muster/discovery/protocol/frostbite",
	"muster/discovery/protocol/zandronum",
	"muster/discovery/protocol/satisfactory",
	"muster/discovery/protocol/samp",
	"muster/discovery/protocol/sqp",
	"muster/discovery/protocol/sauerbraten",
	"muster/discovery/protocol/mumble",
	"muster/discovery/protocol/mindustry",
	"muster/discovery/protocol/minecraft",
	"muster/discovery/protocol/odamex",
	"muster/discovery/protocol/openttd",
	"muster/discovery/protocol/beacon",
	"muster/discovery/protocol/tcp",
	"muster/discovery/regions",
	"muster/discovery/lists/address",
	"muster/selection",
	"muster/selection/anomaly",
	"muster/selection/rules",
	"muster/selection/coordinate",
	"muster/selection/estimate",
	"muster/selection/line",
	"muster/selection/scout",
	"muster/selection/even",
	"muster/selection/excess",
	"muster/selection/law",
	"muster/selection/memory",
	"muster/discovery/sentence",
	"muster/discovery/hostport",
	"muster/internal/catalogue",
	"muster/host/schedule",
	"muster/host/wire",
	"muster/internal/slip",
	"muster/host/room",
	"muster/host/room/decision",
	"muster/host/room/facts",
	"muster/host/room/probing",
	"muster/host/room/waiting",
	"muster/host/room/attendance",
	"muster/host/room/ballot",
	"muster/host/room/bans",
	"muster/host/room/brought",
	"muster/host/room/calendar",
	"muster/host/room/candidates",
	"muster/host/room/choice",
	"muster/host/room/editions",
	"muster/host/room/estimates",
	"muster/host/room/evened",
	"muster/host/room/evidence",
	"muster/host/room/infos",
	"muster/host/room/ingame",
	"muster/host/room/finals",
	"muster/host/room/homes",
	"muster/host/room/journal",
	"muster/host/room/launch",
	"muster/host/room/listing",
	"muster/host/room/lines",
	"muster/host/room/memories",
	"muster/host/room/moving",
	"muster/host/room/nearby",
	"muster/host/room/nickname",
	"muster/host/room/podium",
	"muster/host/room/privacy",
	"muster/host/room/origin",
	"muster/host/room/reactions",
	"muster/host/room/people",
	"muster/host/room/roomtime",
	"muster/host/room/roster",
	"muster/host/room/pace",
	"muster/host/room/search",
	"muster/host/room/saved",
	"muster/host/room/seats",
	"muster/host/room/sides",
	"muster/host/room/trust",
	"muster/host/room/outage",
	"muster/host/room/terms",
	"muster/host/page",
	"muster/host/matchfile",
	"muster/host/demand",
	"muster/host/keyfile",
	"muster/host/networks",
	"muster/peer/player",
}

// only says which single package may import a library, or which few, and why a library that
// serves one of them is worth its place.
var only = map[string]string{
	"github.com/spf13/cobra":               module + " muster/internal/cli muster/internal/option",
	"github.com/spf13/pflag":               "muster/internal/cli muster/internal/option",
	"aead.dev/minisign":                    "muster/internal/release muster/internal/release/releasetest",
	"golang.org/x/term":                    "muster/internal/term",
	"github.com/pelletier/go-toml/v2":      "muster/internal/tomlerr muster/internal/game muster/internal/config muster/internal/recipe",
	"github.com/nats-io/nats.go":           "muster/host/cluster muster/host/cluster/clustertest",
	"github.com/nats-io/nats.go/jetstream": "muster/host/cluster muster/host/cluster/clustertest",
	// It packs rooms, and NATS brings it anyway.
	"github.com/klauspost/compress/zstd": "muster/host/cluster",
	// Two protocols of routers, tried on many of them.
	"github.com/jackpal/go-nat-pmp":                "muster/internal/portmap",
	"github.com/huin/goupnp/dcps/internetgateway2": "muster/internal/portmap",
	// It knows which of MaxMind's and DB-IP's databases tells what.
	"github.com/oschwald/geoip2-golang/v2": "muster/discovery/geo",
	"github.com/hashicorp/mdns":            "muster/discovery/lists/lan",
	// Go does not tell the name of the system's time zone, and Windows has names of its own.
	"github.com/thlib/go-timezone-local/tzlocal": "muster/internal/cli",
	// A table says where servers stand in other people's JSON: as paths, which it follows.
	"github.com/tidwall/gjson": "muster/discovery/lists/weblist",
	// The metrics bring it anyway.
	"google.golang.org/protobuf/encoding/protowire": "muster/discovery/lists/weblist",
	// Unicode's table of letters that look alike.
	"go.mau.fi/util/confusable": "muster/host/room/nickname",
	// Certificates from Let's Encrypt.
	"golang.org/x/crypto/acme/autocert": "muster/internal/ingress",
	// See package markup.
	"html/template": "",
	"text/template": "",
	// What browsers send and take is STUN, and its authors know where the RFCs are read in different ways.
	"github.com/pion/stun/v3": "muster/internal/echo",
	// Callers that share one answer, and workers that stop together.
	"golang.org/x/sync/singleflight": "muster/host/cluster",
	"golang.org/x/sync/errgroup":     "muster/internal/sim",
}

// everybodys may be imported by every package: a sentence is a key and arguments, and a server is at an
// address or known by a name.
var everybodys = []string{"muster/discovery/sentence", "muster/discovery/hostport"}

// module is the module's path. A published copy has another one, and so have all paths here:
// .ci/publish writes them.
var module = strings.TrimSuffix(everybodys[0], "/discovery/sentence")

// TestArrows holds the house together: imports point one way.
func TestArrows(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, module+"/") && !slices.Contains(everybodys, imported) && !allowed(p.ImportPath, imported) {
				t.Errorf("%s must not import %s", p.ImportPath, imported)
			}
			if owner, ok := only[imported]; ok && !slices.Contains(strings.Fields(owner), p.ImportPath) {
				t.Errorf("only %s may import %s, not %s", owner, imported, p.ImportPath)
			}
			if slices.Contains(pure, p.ImportPath) && acts(imported) {
				t.Errorf("%s is pure, but imports %s", p.ImportPath, imported)
			}
		}
	}
}

// acts reports whether a package could reach a socket, a file or a process. That is a library,
// a part of Muster that is not pure, or some packages of the standard library.
func acts(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	switch {
	case path == "net/netip", path == "net/url", strings.HasPrefix(path, "golang.org/x/text/"), path == "golang.org/x/net/idna", path == "go.mau.fi/util/confusable": // they only read what they are given
		return false
	case strings.HasPrefix(path, module+"/"):
		return !slices.Contains(pure, path)
	}
	return strings.Contains(first, ".") || slices.Contains([]string{"net", "os", "io/fs", "syscall", "log"}, first)
}

// readsClock reports whether code calls for the machine's time, or waits for it.
func readsClock(n ast.Node) bool {
	call, is := n.(*ast.SelectorExpr)
	if !is {
		return false
	}
	of, is := call.X.(*ast.Ident)
	return is && of.Name == "time" && slices.Contains([]string{
		"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Sleep",
	}, call.Sel.Name)
}

// machineTime are the files and folders of host and peer that read the machine's clock, and why. All others live by
// the clock that they are given, see internal/clock.
var machineTime = map[string]string{
	"host/actor.go":            "how often people are sent a new state",
	"host/live.go":             "deadlines of sockets, and the pause between two frames",
	"host/line.go":             "deadlines of sockets, and patience with other hosts",
	"host/gateway.go":          "patience with other hosts",
	"host/plain.go":            "patience with other hosts",
	"host/relay.go":            "patience with other hosts, and with the store's news",
	"host/peers.go":            "a metric, and how fast a connection is read",
	"host/step.go":             "a metric",
	"host/host.go":             "patience with what ends",
	"host/metrics":             "metrics",
	"host/turns":               "a metric",
	"host/wire/conn":           "deadlines of sockets, and the pings that meet them",
	"host/between":             "deadlines of sockets",
	"host/store":               "dates in a file, for whatever process reads it next",
	"host/lists":               "dates in a store",
	"host/cluster":             "patience with NATS, and ages of lists",
	"host/cluster/clustertest": "the time of the bubble of a test",
	"peer/connecting.go":       "patience with what may be a host",
	"peer/dial.go":             "head starts of addresses",
	"peer/delayed":             "packets of a game, which know no other clock",
}

// TestHostsAndPeersLiveByTheirClock checks that a test or a simulation that holds the clock of a host or a peer holds
// all that it does by the time.
func TestHostsAndPeersLiveByTheirClock(t *testing.T) {
	reads := map[string]bool{}
	for _, root := range []string{"host", "peer"} {
		filepath.WalkDir(root, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			allowed := filepath.ToSlash(file)
			if machineTime[allowed] == "" {
				allowed = path.Dir(allowed)
			}
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if readsClock(n) {
					if reads[allowed] = true; machineTime[allowed] == "" {
						t.Errorf("%s reads the machine's clock", set.Position(n.Pos()))
					}
				}
				return true
			})
			return nil
		})
	}
	for file := range machineTime {
		if !reads[file] {
			t.Errorf("%s reads no clock any longer", file)
		}
	}
}

// TestPureCodeWaitsForNobody checks that pure packages read no clock and start no goroutine: their
// callers say what time it is. Their tests start no goroutine either, so the race detector can find
// nothing there, and the gate runs them without it.
func TestPureCodeWaitsForNobody(t *testing.T) {
	for _, path := range pure {
		files, err := filepath.Glob(filepath.Join(strings.TrimPrefix(path, module+"/"), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", path, err)
		}
		for _, file := range files {
			isTest := strings.HasSuffix(file, "_test.go")
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s starts a goroutine", set.Position(n.Pos()))
				default:
					if !isTest && readsClock(n) {
						t.Errorf("%s reads the clock", set.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
}

// TestProgramIsLight checks that the program has no package that only tests need, and none that
// brings megabytes for one picture.
func TestProgramIsLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		for _, heavy := range []string{"muster/host/cluster/clustertest/", "github.com/chromedp/", "gonum.org/", "github.com/santhosh-tekuri/", "golang.org/x/image/", "image/png/", "github.com/spf13/cobra/doc/", "testing/"} {
			if strings.HasPrefix(path+"/", heavy) {
				t.Errorf("the program has %s in it", path)
			}
		}
	}
}

func allowed(from, to string) bool {
	if strings.HasPrefix(to, from+"/internal/") {
		return true
	}
	for _, a := range arrows {
		// The parts of the host and of the room may not import all that these may.
		isOwn := a.from == module || a.from == "muster/host" || a.from == "muster/host/room"
		if from != a.from && (isOwn || !strings.HasPrefix(from, a.from+"/")) {
			continue
		}
		if slices.ContainsFunc(a.to, func(pattern string) bool { return matches(pattern, to) }) {
			return true
		}
	}
	return false
}

func matches(pattern, path string) bool {
	below, all := strings.CutSuffix(pattern, "/...")
	return path == below || all && strings.HasPrefix(path, below+"/")
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Standard", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return list
		case err != nil:
			t.Fatal(err)
		}
		list = append(list, p)
	}
}
