"""What a stack with a registry is made of, a file for each part."""
