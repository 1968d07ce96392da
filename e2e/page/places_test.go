package page_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/host"
	"muster/host/wire"
	"muster/selection"
	"muster/web"
)

// TestPlaces plays an evening of a group without a server and without a program: three friends measure three
// places with their browsers alone, one of them rather not, and go to the server that the organiser sets up at
// the best. A friend presses one button. Nobody ever reads a placeholder address.
func TestPlaces(t *testing.T) {
	var places strings.Builder
	for _, name := range []string{"Amsterdam", "Haarlem", "Utrecht"} {
		fmt.Fprintf(&places, "%s, %s\n", name, startBeacon(t, name))
	}
	venues, err := wire.ParseVenues(places.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range [][2]float64{{52.37, 4.9}, {52.38, 4.64}, {52.09, 5.12}} { // near enough for pings on loopback
		venues[i].Country, venues[i].Lat, venues[i].Lon = "NL", at[0], at[1]
		venues[i].Offers = []wire.Offer{{Provider: "Vultr", Region: "one"}, {Provider: "Hetzner"}}
	}
	rooms, err := host.New(host.Config{Page: web.Handler()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { server.Close(); rooms.Close() })
	code, _, err := rooms.Open(wire.Settings{
		Name: "Friday night", Game: "openarena", By: selection.Mean, Strategy: "as", Seeks: wire.SeekPlace, Places: venues, Agree: wire.No,
	})
	if err != nil {
		t.Fatal(err)
	}
	keys := rooms.Keys(code)
	link := server.URL + "/#" + code + "_" + keys.Link

	anna := browse(t, link+"."+keys.Secret, desktop)
	anna.sees("#stage h1", "Where should our server stand?")
	anna.sees("#consent", "3 machines will see your address")
	anna.shoot("place-ask", phone, laptop)
	anna.sets("#ask-name", "anna")
	anna.click("[data-action=measure]")
	anna.sees("#answered", "anna has measured")

	ben := browse(t, link, desktop)
	ben.sees("#stage .about", "anna asks all of you")
	ben.click("[data-action=measure]") // the only thing that he does
	ben.sees("#answered", "have measured")
	chong := browse(t, link, desktop)
	chong.sees("#stage h1", "Where should our server stand?")
	chong.sets("#ask-name", "chong")
	chong.click("[data-action=not-now]")
	chong.sees("#stage .mine", "nobody knows your pings")
	anna.sees("#answered", "have measured")
	if first := eval[float64](ben, loadedFirst); first > maxLoaded {
		t.Errorf("the page loads %.0f bytes to the first state", first)
	}
	anna.shoot("place-search", phone, laptop)
	anna.click("[data-action=go]")
	for _, b := range []*browser{anna, ben, chong} {
		b.sees("#stage h1", "Host it in")
		if found := b.reads("body"); strings.Contains(found, "2001:db8") || strings.Contains(found, "undefined") {
			t.Errorf("somebody reads %q", found)
		}
	}
	anna.shoot("place-chosen", phone, laptop)
	ben.sees("#stage .gets-ready", "anna gets it ready")
	anna.click("[data-action=set-up]")
	anna.sees("#stage h1", "OpenArena")
	anna.shoot("place-recipe", phone, laptop)
	anna.sets("#recipe-address", "nowhere")
	anna.run(`document.querySelector("#recipe-address").form.requestSubmit()`)
	anna.sees("#toast", "no address")
	anna.sets("#recipe-address", "127.0.0.1:27960")
	anna.run(`document.querySelector("#recipe-address").form.requestSubmit()`)
	for _, b := range []*browser{anna, ben, chong} {
		b.sees("#stage h1", "Everyone to")
		b.sees("#stage .way", "127.0.0.1:27960")
	}
	ben.shoot("place-ready", phone, laptop)
}
