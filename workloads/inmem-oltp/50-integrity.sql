-- gostress workload inmem-oltp, install, part base: rules about the data, and the procedures that test them.
--
-- The order tables carry no checks and no foreign keys; the rules that would be theirs stand in three tables
-- and are tested on demand by dbo.usp_ValidateIntegrity.
IF OBJECT_ID(N'dbo.DomainIntegrity', N'U') IS NULL
BEGIN
    CREATE TABLE dbo.DomainIntegrity
    (
        DomainIntegrityID int IDENTITY(1, 1) NOT NULL CONSTRAINT PK_DomainIntegrity PRIMARY KEY CLUSTERED,
        ObjectName nvarchar(261) NOT NULL,
        RuleName nvarchar(128) NOT NULL,
        Condition nvarchar(1000) NOT NULL
    );
    PRINT N'created table dbo.DomainIntegrity';
END
ELSE
    PRINT N'kept table dbo.DomainIntegrity';
GO

IF OBJECT_ID(N'dbo.ReferentialIntegrity', N'U') IS NULL
BEGIN
    CREATE TABLE dbo.ReferentialIntegrity
    (
        ReferentialIntegrityID int IDENTITY(1, 1) NOT NULL CONSTRAINT PK_ReferentialIntegrity PRIMARY KEY CLUSTERED,
        ObjectName nvarchar(261) NOT NULL,
        RuleName nvarchar(128) NOT NULL,
        Column1 nvarchar(128) NOT NULL,
        Column2 nvarchar(128) NULL,
        ReferencedObjectName nvarchar(261) NOT NULL,
        ReferencedColumn1 nvarchar(128) NOT NULL,
        ReferencedColumn2 nvarchar(128) NULL
    );
    PRINT N'created table dbo.ReferentialIntegrity';
END
ELSE
    PRINT N'kept table dbo.ReferentialIntegrity';
GO

IF OBJECT_ID(N'dbo.UniqueIntegrity', N'U') IS NULL
BEGIN
    CREATE TABLE dbo.UniqueIntegrity
    (
        UniqueIntegrityID int IDENTITY(1, 1) NOT NULL CONSTRAINT PK_UniqueIntegrity PRIMARY KEY CLUSTERED,
        ObjectName nvarchar(261) NOT NULL,
        RuleName nvarchar(128) NOT NULL,
        Columns nvarchar(400) NOT NULL
    );
    PRINT N'created table dbo.UniqueIntegrity';
END
ELSE
    PRINT N'kept table dbo.UniqueIntegrity';
GO

IF OBJECT_ID(N'dbo.usp_GenerateCKCheck', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE dbo.usp_GenerateCKCheck;
    PRINT N'replacing procedure dbo.usp_GenerateCKCheck';
END
ELSE
    PRINT N'creating procedure dbo.usp_GenerateCKCheck';
GO

-- Builds the query that counts the rows for which a rule of dbo.DomainIntegrity is false.
CREATE PROCEDURE dbo.usp_GenerateCKCheck
    @DomainIntegrityID int,
    @Check nvarchar(max) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;

    SELECT @Check = N'SELECT @Violations = COUNT_BIG(*) FROM ' + ObjectName + N' WHERE NOT (' + Condition + N');'
    FROM dbo.DomainIntegrity
    WHERE DomainIntegrityID = @DomainIntegrityID;
END
GO

IF OBJECT_ID(N'dbo.usp_GenerateFKCheck', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE dbo.usp_GenerateFKCheck;
    PRINT N'replacing procedure dbo.usp_GenerateFKCheck';
END
ELSE
    PRINT N'creating procedure dbo.usp_GenerateFKCheck';
GO

-- Builds the query that counts the rows whose reference, one or two columns, leads nowhere.
CREATE PROCEDURE dbo.usp_GenerateFKCheck
    @ReferentialIntegrityID int,
    @Check nvarchar(max) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;

    SELECT @Check = N'SELECT @Violations = COUNT_BIG(*) FROM ' + ObjectName + N' AS c WHERE c.' + Column1 + N' IS NOT NULL'
        + ISNULL(N' AND c.' + Column2 + N' IS NOT NULL', N'')
        + N' AND NOT EXISTS (SELECT * FROM ' + ReferencedObjectName + N' AS r WHERE r.' + ReferencedColumn1 + N' = c.' + Column1
        + ISNULL(N' AND r.' + ReferencedColumn2 + N' = c.' + Column2, N'') + N');'
    FROM dbo.ReferentialIntegrity
    WHERE ReferentialIntegrityID = @ReferentialIntegrityID;
END
GO

IF OBJECT_ID(N'dbo.GenerateUQCheck', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE dbo.GenerateUQCheck;
    PRINT N'replacing procedure dbo.GenerateUQCheck';
END
ELSE
    PRINT N'creating procedure dbo.GenerateUQCheck';
GO

-- Builds the query that counts the keys which come more than once.
CREATE PROCEDURE dbo.GenerateUQCheck
    @UniqueIntegrityID int,
    @Check nvarchar(max) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;

    SELECT @Check = N'SELECT @Violations = COUNT_BIG(*) FROM (SELECT ' + Columns + N' FROM ' + ObjectName
        + N' GROUP BY ' + Columns + N' HAVING COUNT_BIG(*) > 1) AS d;'
    FROM dbo.UniqueIntegrity
    WHERE UniqueIntegrityID = @UniqueIntegrityID;
END
GO

IF OBJECT_ID(N'dbo.usp_ValidateIntegrity', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE dbo.usp_ValidateIntegrity;
    PRINT N'replacing procedure dbo.usp_ValidateIntegrity';
END
ELSE
    PRINT N'creating procedure dbo.usp_ValidateIntegrity';
GO

-- Tests every rule, or those of one table, returns a row for each rule with the number of violations, and
-- ends with error 50160 when there is any.
CREATE PROCEDURE dbo.usp_ValidateIntegrity
    @object_id int = NULL
AS
BEGIN
    SET NOCOUNT ON;

    DECLARE @Result TABLE
    (
        Kind nvarchar(12) NOT NULL,
        ObjectName nvarchar(261) NOT NULL,
        RuleName nvarchar(128) NOT NULL,
        Violations bigint NOT NULL
    );
    DECLARE @ID int;
    DECLARE @Check nvarchar(max);
    DECLARE @Violations bigint;

    SELECT @ID = MIN(DomainIntegrityID)
    FROM dbo.DomainIntegrity
    WHERE @object_id IS NULL OR OBJECT_ID(ObjectName) = @object_id;
    WHILE @ID IS NOT NULL
    BEGIN
        EXEC dbo.usp_GenerateCKCheck @ID, @Check OUTPUT;
        EXEC sys.sp_executesql @Check, N'@Violations bigint OUTPUT', @Violations OUTPUT;
        INSERT INTO @Result (Kind, ObjectName, RuleName, Violations)
        SELECT N'domain', ObjectName, RuleName, @Violations FROM dbo.DomainIntegrity WHERE DomainIntegrityID = @ID;
        SELECT @ID = MIN(DomainIntegrityID)
        FROM dbo.DomainIntegrity
        WHERE DomainIntegrityID > @ID AND (@object_id IS NULL OR OBJECT_ID(ObjectName) = @object_id);
    END;

    SELECT @ID = MIN(ReferentialIntegrityID)
    FROM dbo.ReferentialIntegrity
    WHERE @object_id IS NULL OR OBJECT_ID(ObjectName) = @object_id;
    WHILE @ID IS NOT NULL
    BEGIN
        EXEC dbo.usp_GenerateFKCheck @ID, @Check OUTPUT;
        EXEC sys.sp_executesql @Check, N'@Violations bigint OUTPUT', @Violations OUTPUT;
        INSERT INTO @Result (Kind, ObjectName, RuleName, Violations)
        SELECT N'referential', ObjectName, RuleName, @Violations
        FROM dbo.ReferentialIntegrity
        WHERE ReferentialIntegrityID = @ID;
        SELECT @ID = MIN(ReferentialIntegrityID)
        FROM dbo.ReferentialIntegrity
        WHERE ReferentialIntegrityID > @ID AND (@object_id IS NULL OR OBJECT_ID(ObjectName) = @object_id);
    END;

    SELECT @ID = MIN(UniqueIntegrityID)
    FROM dbo.UniqueIntegrity
    WHERE @object_id IS NULL OR OBJECT_ID(ObjectName) = @object_id;
    WHILE @ID IS NOT NULL
    BEGIN
        EXEC dbo.GenerateUQCheck @ID, @Check OUTPUT;
        EXEC sys.sp_executesql @Check, N'@Violations bigint OUTPUT', @Violations OUTPUT;
        INSERT INTO @Result (Kind, ObjectName, RuleName, Violations)
        SELECT N'unique', ObjectName, RuleName, @Violations FROM dbo.UniqueIntegrity WHERE UniqueIntegrityID = @ID;
        SELECT @ID = MIN(UniqueIntegrityID)
        FROM dbo.UniqueIntegrity
        WHERE UniqueIntegrityID > @ID AND (@object_id IS NULL OR OBJECT_ID(ObjectName) = @object_id);
    END;

    SELECT Kind, ObjectName, RuleName, Violations
    FROM @Result
    ORDER BY Violations DESC, Kind, ObjectName, RuleName;

    IF EXISTS (SELECT * FROM @Result WHERE Violations > 0)
    BEGIN;
        THROW 50160, N'Rules about the data are broken: the result set names them.', 1;
    END;
END
GO
