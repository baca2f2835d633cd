"""What a course hands out: the archives of students and teachers, and their pages, slides, notebooks and plays."""
