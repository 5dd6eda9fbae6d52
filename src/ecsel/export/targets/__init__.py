"""The program in other languages and formats, each from the rules for its nodes."""
