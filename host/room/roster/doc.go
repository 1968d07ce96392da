// Package roster keeps who is in a room: players and guests, their names, and the credentials by
// which they are known again.
package roster
