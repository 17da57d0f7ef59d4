"""Change alarms with a stated rate of false ones: e-detectors over bets on recursive residuals."""
