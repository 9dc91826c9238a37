INSERT INTO `purchases` VALUES (1,'hemlock'),(2,'milk');
