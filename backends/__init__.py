"""Graph stores behind one protocol."""
