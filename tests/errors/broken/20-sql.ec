SELECT vessel FROM positions WHERE speed > 5;
