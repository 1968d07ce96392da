package geo

// Load decodes the tables that Muster carries, so that no lookup waits for it.
func (l *Locator) Load() error {
	if _, err := l.countries(); err != nil {
		return err
	}
	_, err := l.origins()
	return err
}
