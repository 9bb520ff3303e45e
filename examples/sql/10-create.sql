IF OBJECT_ID(N'tempdb..#Numbers') IS NOT NULL DROP TABLE #Numbers;
CREATE TABLE #Numbers (n int NOT NULL PRIMARY KEY, word nvarchar(20) NOT NULL);
INSERT #Numbers (n, word) VALUES (1, N'one'), (2, N'two'), (3, N'three');
GO
SELECT n, word FROM #Numbers ORDER BY n;
GO
