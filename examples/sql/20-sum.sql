DECLARE @i int = 0, @sum int = 0;
WHILE @i < 100
BEGIN
  SET @i = @i + 1;
  SET @sum = @sum + @i;
END;
SELECT @sum AS total;
GO
