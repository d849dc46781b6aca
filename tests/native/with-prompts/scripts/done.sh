echo "$1 steps"
