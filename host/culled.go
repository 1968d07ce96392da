package host

import (
	"net/http"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/selection"
)

// culledList is who was culled for one cause.
type culledList struct {
	Cause   string         `json:"cause"`
	Total   int            `json:"total"`
	Servers []culledServer `json:"servers"`
}

type culledServer struct {
	Addr string `json:"addr"`
	pageServer
	// On whose account.
	Players []string           `json:"on,omitempty"`
	RTT     map[string]float64 `json:"rtt_ms"`
}

// maxCulled is how many servers of a list are told; it says how many there are.
const maxCulled = 300

// culledFor lists who was culled for a cause.
func (r *Room) culledFor(cause selection.Cause) culledList {
	list := culledList{Cause: cause.String(), Servers: []culledServer{}}
	if r.Selection == nil {
		return list
	}
	group := r.chosenFor()
	wish := r.wish(group)
	wish.Reasons, wish.Top = 0, 1
	reasons := selection.NewFilter(r.servers(), wish).Select(r.table(group)).Reasons
	reasons = slices.DeleteFunc(reasons, func(reason selection.Reason) bool { return reason.Cause != cause })
	list.Total = len(reasons)
	places := map[netip.AddrPort]int{}
	for server := range r.Servers {
		places[r.Servers[server].Addr] = server
	}
	knows := r.knowledge(group)
	for _, reason := range reasons[:min(maxCulled, len(reasons))] {
		list.Servers = append(list.Servers, r.culledServer(reason, places[reason.Addr], group, knows))
	}
	return list
}

func (r *Room) culledServer(reason selection.Reason, server int, group []*Member, knows []knowledge) culledServer {
	c := culledServer{Addr: reason.Addr.String(), pageServer: r.pageServer(server), Players: reason.Players, RTT: map[string]float64{}}
	for i, m := range group {
		if result := knows[i].at(server); result.State == discovery.Answered {
			c.RTT[m.Name] = float64(result.RTT) / float64(time.Millisecond)
		}
	}
	return c
}

// serveCulled tells of the servers that were culled for one cause.
func (h *Host) serveCulled(w http.ResponseWriter, r *http.Request) {
	a := h.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	var cause selection.Cause
	if cause.UnmarshalText([]byte(r.PathValue("cause"))) != nil {
		http.NotFound(w, r)
		return
	}
	list := make(chan culledList, 1)
	if a.post(func() { list <- a.room.culledFor(cause) }) {
		answer(w, http.StatusOK, <-list)
	}
}
