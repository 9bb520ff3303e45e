-- gostress workload inmem-oltp, install, part inmem: what the database needs for memory-optimized tables.
--
-- A database with a memory-optimized filegroup cannot close by itself, which Express lets new ones do.
IF EXISTS (SELECT * FROM sys.databases WHERE name = DB_NAME() AND is_auto_close_on = 1)
BEGIN
    ALTER DATABASE CURRENT SET AUTO_CLOSE OFF;
    PRINT N'set AUTO_CLOSE OFF, as memory-optimized tables need it';
END
GO

-- The filegroup: Azure SQL Database (5) and Managed Instance (8) bring their own. Elsewhere one is added when
-- there is none, beside the first data file. It cannot be removed again before SQL Server 2025.
IF CONVERT(int, SERVERPROPERTY('EngineEdition')) = 5 OR CONVERT(int, SERVERPROPERTY('EngineEdition')) = 8
    PRINT N'no memory-optimized filegroup is needed on this kind of server';
ELSE IF EXISTS (SELECT * FROM sys.filegroups WHERE [type] = N'FX')
    PRINT N'kept the memory-optimized filegroup';
ELSE
BEGIN
    EXEC (N'ALTER DATABASE CURRENT ADD FILEGROUP gostress_inmem CONTAINS MEMORY_OPTIMIZED_DATA;');
    PRINT N'added filegroup gostress_inmem';
END
GO

IF CONVERT(int, SERVERPROPERTY('EngineEdition')) <> 5 AND CONVERT(int, SERVERPROPERTY('EngineEdition')) <> 8
BEGIN
    IF NOT EXISTS (SELECT * FROM sys.database_files AS f
                   INNER JOIN sys.filegroups AS g ON g.data_space_id = f.data_space_id
                   WHERE g.[type] = N'FX')
    BEGIN
        DECLARE @container nvarchar(400);
        DECLARE @group nvarchar(128);
        DECLARE @add nvarchar(2000);

        SELECT @container = physical_name + N'.gostress_inmem' FROM sys.database_files WHERE file_id = 1;
        SELECT @group = name FROM sys.filegroups WHERE [type] = N'FX';
        SET @add = N'ALTER DATABASE CURRENT ADD FILE (NAME = N''gostress_inmem'', FILENAME = N'''
            + REPLACE(@container, N'''', N'''''') + N''') TO FILEGROUP ' + QUOTENAME(@group) + N';';
        EXEC (@add);
        PRINT N'added container ' + @container;
    END
END
GO

-- Reads of memory-optimized tables inside a transaction must run as SNAPSHOT. The value found first is kept
-- in gostress.elevate_to_snapshot, and uninstall puts it back.
IF NOT EXISTS (SELECT * FROM sys.extended_properties WHERE class = 0 AND name = N'gostress.elevate_to_snapshot')
BEGIN
    DECLARE @before nvarchar(3);

    SELECT @before = CASE WHEN is_memory_optimized_elevate_to_snapshot_on = 1 THEN N'ON' ELSE N'OFF' END
    FROM sys.databases
    WHERE name = DB_NAME();
    EXEC sys.sp_addextendedproperty @name = N'gostress.elevate_to_snapshot', @value = @before;
END
GO

IF EXISTS (SELECT * FROM sys.databases WHERE name = DB_NAME() AND is_memory_optimized_elevate_to_snapshot_on = 1)
    PRINT N'kept MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = ON';
ELSE
BEGIN
    ALTER DATABASE CURRENT SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = ON;
    PRINT N'set MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = ON (uninstall puts it back)';
END
GO
