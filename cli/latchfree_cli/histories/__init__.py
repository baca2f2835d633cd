"""What the command ``check`` does with files of histories; nothing here needs the parser of options."""
