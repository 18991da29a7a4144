// limits: {"resultBytes": 16}
return "0123456789abcdefghijklmnopqrstuvwxyz";
