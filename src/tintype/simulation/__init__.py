"""An invented population that posts and reads, so that an operator can see what a threshold costs."""
