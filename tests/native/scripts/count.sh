wc -l "$1"
