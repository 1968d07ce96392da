package jamulus

// The frame of a message, for tests.
var Frame = frame

// Musicians is the kind of a list of musicians.
const Musicians = musicians
