"""How each system and a bounded model of its module correspond, a file for each system."""
