"""The parts of the codec generator: layouts, classes, decoders, encoders."""
